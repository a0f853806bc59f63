"""A folder as a hub's command leaves it: shards of several splits, named by patterns, through Snakemake."""

import polars as pl
import pytest

from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table

pytestmark = pytest.mark.slow

SHARDS = {  # written in another order than they are numbered
    "data/train-00001-of-00002.parquet": [("t2", "What is third?", "Mill", "The third mill stands in York.")],
    "data/validation-00000-of-00001.parquet": [("v0", "What rains?", "Rain", "It rains in May.")],
    "data/train-00000-of-00002.parquet": [
        ("t0", "What is first?", "Mill", "The first mill stands in Leeds."),
        ("t1", "What is second?", "Mill", "The second mill stands in Hull."),
    ],
    "data/notes.parquet": [("x", "Not of a split?", "Mill", "Nobody names this file.")],
    "README.md": None,
}
FILES = "files: [{folder}/data/train-*.parquet, {folder}/data/validation-*.parquet]\n"
OPTIONS = {
    "dataset": "defaults: [custom, _self_]\n"
    + "corpus: {{format: {{kind: hf, columns: {{text: context, doc: title, title: title}}}}}}\n"
    + FILES
    + "format: {{kind: hf, columns: {{id: id, question: question, evidence_text: context}}}}\n",
    "experiment": "defaults: [custom, _self_]\ntitle: A hub's tables\ndatasets: [hub]\n",
}


@pytest.fixture
def hub(project, tmp_path):
    folder = tmp_path / "a repository"
    for name, rows in SHARDS.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if rows is None:
            path.write_text("What it is.")
        else:
            pl.DataFrame(rows, ["id", "question", "title", "context"], orient="row").write_parquet(path)
    for group, text in OPTIONS.items():
        (project.root / f"conf/{group}/hub.yaml").write_text(text.format(folder=folder))
    return project


def test_the_shards_of_a_folder_are_read_in_the_order_of_their_numbers(hub):
    wanted = ("results/hub/passages/passages.parquet", "results/hub/hub/questions/questions.parquet")
    done = hub.snakemake(*wanted, "--config", "experiment=hub")
    assert done.returncode == 0, done.stdout + done.stderr
    passages = read_table(TABLES["passages"], hub.root / wanted[0]).sort("passage_id")
    assert passages.select("passage_id", "doc_id", "position").rows() == [
        ("p0", "Mill", 0), ("p1", "Mill", 1), ("p2", "Mill", 2), ("p3", "Rain", 0),
    ]  # fmt: skip
    assert [text.split()[1] for text in passages["text"]] == ["first", "second", "third", "rains"]
    questions = read_table(TABLES["questions"], hub.root / wanted[1]).sort("position")
    splits = [("t0", "train"), ("t1", "train"), ("t2", "train"), ("v0", "dev")]
    assert questions.select("question_id", "split").rows() == splits
    evidence = read_table(TABLES["evidence"], (hub.root / wanted[1]).with_name("evidence.parquet"))
    assert dict(evidence.select("question_id", "passage_id").iter_rows()) == {
        "t0": "p0", "t1": "p1", "t2": "p2", "v0": "p3",
    }  # fmt: skip


def test_a_pattern_without_files_ends_before_anything_runs(hub):
    hub.edit("conf/dataset/hub.yaml", "train-*.parquet", "trian-*.parquet")
    done = hub.snakemake("-n", "--config", "experiment=hub")
    said = done.stdout + done.stderr
    assert done.returncode == 2
    assert "trian-*.parquet: no file of this pattern. Fix: correct `files` in conf/corpus or conf/dataset." in said
    assert "Traceback" not in said
