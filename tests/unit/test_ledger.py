"""The ledger: which records stand behind a row, fingerprints, and damaged tables."""

import io
import json
import shutil
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from tests.support.report_rows import metric
from tests.support.tracking_results import CONF, FIGURES, HOME, RESULTS, figure, note, ran, record

from secateur.config.compose import option
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import META, TableError
from secateur.stage import ledger
from secateur.stage.ledger import FOLDER, collect, records, variant_runs
from secateur.stage.lineage import warned


@pytest.fixture(autouse=True)
def project(tmp_path, monkeypatch):
    """An empty project as the working directory."""
    monkeypatch.chdir(tmp_path)


def flipped(data: bytes) -> bytes:
    """A bit turned in the last page of the first column."""
    column = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0)
    place = (column.dictionary_page_offset or column.data_page_offset) + column.total_compressed_size - 1
    return data[:place] + bytes([data[place] ^ 16]) + data[place + 1 :]


def test_the_fingerprint_is_of_settings_code_and_inputs_and_of_nothing_else():
    ran()
    first = set(collect(RESULTS)[0]["fingerprint"])
    path = Path("results/toy/triples/openie/0of2/run.json")
    content = json.loads(path.read_text())
    for change, same in (
        ({"wall_seconds": 9.0, "commit": "def", "device": "cuda", "finished": "2026-01-01T00:00:30+00:00"}, True),
        ({"code": "other"}, False),
        ({"config": {"extractor.block": 9}}, False),
        ({"inputs": {"data/toy.jsonl": "d2"}}, False),
    ):
        path.write_text(json.dumps(content | change))
        note()
        current = pl.read_parquet(f"{HOME}/variant_runs.parquet")["fingerprint"]
        assert (set(current) == first) == same, change


def test_a_list_of_scorers_is_one_row_of_the_best_scorer_that_does_not_see_the_answer():
    ran()
    scorers = {"bm25": (0.5, False), "zsum": (0.6, False), "zsum+answer": (0.9, True)}
    figures = [
        figure("f1_at_gold", value, scorer) | {"system": "rankers", "order": None, "answer_aware": aware}
        for scorer, (value, aware) in scorers.items()
    ]
    variants = [{"dataset": "toy", "system": "rankers", "order": None, "files": [FIGURES]}]
    metrics = TABLES["metrics"].frame(figures)
    (row,) = variant_runs("tiny", variants, metrics, records(RESULTS), CONF).to_dicts()
    assert json.loads(row["params"])["scorer"] == "zsum"
    assert ["f1_at_gold", 0.6, 0] in json.loads(row["metrics"])
    assert row["figures"].count("f1_at_gold") == 3


def test_a_copy_of_an_experiments_folder_changes_nothing():
    ran()
    before = collect(RESULTS)
    shutil.copytree(HOME, f"{HOME}_before")
    shutil.copytree("results/toy", "results/copied")
    for table, expected in zip(collect(RESULTS), before, strict=True):
        assert table.equals(expected)


def test_what_stages_warned_of_is_told_once_with_the_data_set():
    ran()
    other = Path("results/other/run.json")
    record("elsewhere", "results/other", ["results/other/x.parquet"], {})
    for path in RESULTS.rglob("run.json"):
        told = [f"of {path.parent.parent.name}"] if "openie" in path.parts or path == other else []
        path.write_text(json.dumps(json.loads(path.read_text()) | {"warnings": told}))
    assert warned([{"files": [FIGURES]}], records(RESULTS)) == ["toy, extract_triples: of openie"]


def test_a_setting_of_an_option_that_a_rule_fixes_is_no_override_of_the_variants_option():
    minilm = option(CONF, "embedder", "minilm").model
    fixed = {"axes": {}, "config": {"embedder.model": minilm, "eval.seed": -1}}
    chosen = {"axes": {"embedder": "bge_large"}, "config": {"embedder.dim": -1}}
    assert ledger._overridden([fixed, chosen], CONF) == {"eval.seed": -1, "embedder.dim": -1}


def test_the_ledger_of_an_earlier_release_is_set_aside():
    ran()
    collect(RESULTS)
    path = RESULTS / FOLDER / "variant_runs.parquet"
    old = pq.read_table(path)
    identity = b"secateur.table"
    old = old.replace_schema_metadata({identity: old.schema.metadata[identity].replace(b"@2:", b"@1:")})
    pq.write_table(old, path)
    collect(RESULTS)
    assert path.with_name("variant_runs.1.parquet").exists()
    assert pl.read_parquet(path).height == 1


@pytest.mark.parametrize(
    "harm", [lambda data: data[: len(data) // 2], lambda data: b"", flipped], ids=["cut", "empty", "bit"]
)
@pytest.mark.parametrize("name", ["variant_runs", "job_runs"])
def test_a_damaged_ledger_is_named_and_left_and_begins_anew_once_it_is_moved_away(name, harm):
    ran(top_k=100)
    collect(RESULTS)
    path = RESULTS / FOLDER / f"{name}.parquet"
    whole = path.read_bytes()
    path.write_bytes(harm(whole))
    with pytest.raises(TableError, match=rf"{name}\.parquet: cannot be read \(.*no stage rebuilds it.*Fix: move"):
        collect(RESULTS)
    assert path.read_bytes() == harm(whole)
    path.rename(path.with_name("aside.parquet"))
    collect(RESULTS)
    assert path.exists()


def test_a_ledger_of_a_later_release_or_without_an_identity_is_left_and_no_stage_is_asked_for_it():
    ran(top_k=100)
    collect(RESULTS)
    path = RESULTS / FOLDER / "job_runs.parquet"
    later = pq.read_table(path)
    name, _, rest = later.schema.metadata[META].decode().partition("@")
    newer = f"{name}@{int(rest.partition(':')[0]) + 1}:{rest.partition(':')[2]}"
    pq.write_table(later.replace_schema_metadata({**later.schema.metadata, META: newer.encode()}), path)
    with pytest.raises(TableError) as error:
        collect(RESULTS)
    assert f"holds {newer}" in str(error.value)
    assert str(error.value).count("Fix: ") == str(error.value).count(str(path)) == 1
    pl.read_parquet(path).write_parquet(path)
    with pytest.raises(TableError, match=r"no table identity.*Fix:"):
        collect(RESULTS)
    assert path.exists()


def test_the_figures_of_a_run_are_those_of_the_subset_that_pages_are_about_and_a_judges_have_its_name():
    values = {("one", "all"): 0.3755, ("other", "all"): 0.37, ("one", "cat1-4"): 0.3715, ("other", "cat1-4"): 0.38}
    rows = [
        metric("rankers", "f1_at_gold", value, scorer, subset=subset, n=1982 if subset == "all" else 1536)
        for (scorer, subset), value in values.items()
    ]
    shown = ledger._shown(pl.DataFrame(rows))
    assert shown["scorer"].unique().to_list() == ["other"]
    assert ledger._figures(shown)[0] == ("f1_at_gold", 0.38, 0)
    judged = pl.DataFrame([metric("s", "judged_acc@endpoint", 0.7)])
    assert ledger._figures(judged)[0] == ("judged_acc/endpoint", 0.7, 0)
