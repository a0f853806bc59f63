"""`import secateur`: the same contexts and figures as the pipeline's, in a program of one's own."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from safetensors.numpy import load_file, save_file
from scripts import assemble_contexts

import secateur
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import read_table
from secateur.graph.triples.extractors import openie
from secateur.library.options import chosen, context
from secateur.models.embedder import Embedder

pytestmark = pytest.mark.usefixtures("smoke_cache")
DOCUMENTS = Path("data/toy/documents_smoke")
DATASET = Path("results/toy_documents_smoke/toy_documents_smoke")
TEXTS = {
    "deal": "Alder Ltd bought the Finch mill in 2021. The price was not disclosed.",
    "mill": "The Finch mill has stood in Leeds since 1890. It was built by Thomas Finch.",
    "leeds": "Leeds lies on the River Aire. It rains a lot.",
}
QUESTION = "In which city is the mill that Alder Ltd bought?"


def remembering(system: str, texts=TEXTS, **options) -> secateur.Memory:
    made = secateur.Memory(system, **options)
    made.index(texts)
    return made


def tables(smoke, kind: str, where: str) -> pl.DataFrame:
    (path,) = (smoke.root / DATASET).glob(where)
    return read_table(TABLES[kind], path)


@pytest.fixture(scope="module")
def asked(smoke) -> dict[str, str]:
    frame = read_table(TABLES["questions"], smoke.root / DATASET / "questions/questions.parquet")
    return dict(frame.select("question_id", "text").iter_rows())


LEXICAL = "contexts/lexical/*/all/none/text/default.smollm2/contexts.parquet"
ROWS = [  # a system, the order, where its contexts stand, the scorer
    ("graph_zsum", "blind", "contexts/graph/*.blind.*.default/graph/none/*/default.smollm2/contexts.parquet", "graph"),
    ("graph_zsum", "aware", "contexts/graph/*.aware.*.default/graph/none/*/default.smollm2/contexts.parquet", "graph"),
    ("beam", "blind", "contexts/graph/*.blind.*.beam/graph/none/*/default.smollm2/contexts.parquet", "graph"),
    ("rankers/title_zsum", "blind", LEXICAL, "title_zsum"),
    ("rankers/bm25_k1.2_b0.75", "aware", LEXICAL, "bm25_k1.2_b0.75+neighbour"),
]


class Tables(dict):
    """Tables by name, as a stage reads them; no files."""

    def paths(self, name: str) -> list[Path]:
        return []


def same(smoke, asked: dict[str, str], memory: secateur.Memory, rows: pl.DataFrame) -> None:
    """A memory of the smoke run's documents gives each question its context in the table, at every budget."""
    memory.index(smoke.root / DOCUMENTS)
    sent = rows.sort("place").group_by("question_id", "budget")
    texts = sent.agg(pl.col("text").str.join(""), pl.col("tokens").first())
    assert texts["question_id"].n_unique() == len(asked)
    for question, budget, text, tokens in texts.iter_rows():
        found = memory.retrieve(asked[question], budget)
        assert (found.text, found.tokens) == (text, tokens), (question, budget)


@pytest.mark.parametrize(("system", "order", "where", "scorer"), ROWS)
def test_a_memory_retrieves_what_the_pipeline_gives_a_reader(smoke, asked, system, order, where, scorer):
    rows = tables(smoke, "contexts", where).filter(pl.col("scorer") == scorer)
    same(smoke, asked, secateur.Memory(system, order=order), rows)


@pytest.mark.parametrize("assembly", ["default+form=dense", "default+pieces=2", "lines", "paper"])
@pytest.mark.parametrize(
    ("system", "ranked"), [("beam", "graph/*.blind.*.beam"), ("title_zsum", "lexical/*.sentences")]
)
def test_a_memory_writes_what_the_pipelines_assembly_writes(smoke, asked, system, ranked, assembly):
    corpus = smoke.root / DATASET.parent
    read = {name: f"codebook/*/{name}.parquet" for name in ("entities", "relations")}
    read |= {name: f"graph/*.blind.*/{name}.parquet" for name in ("edges", "edge_sources", "aliases")}
    read |= {"passages": "passages/passages.parquet"}
    inputs = {name: read_table(TABLES[name], *corpus.glob(where)) for name, where in read.items()}
    own = {"questions": "questions/questions.parquet", "triples": "triples/*/triples.parquet"}
    own |= {"rankings": f"rankings/{ranked}/rankings.parquet"}
    inputs |= {name: tables(smoke, name, where) for name, where in own.items()}
    options = {
        group: chosen(group, n) for group, n in {"assembly": assembly, "lm": "smollm2", "eval": "default"}.items()
    }
    scorer = "graph" if system == "beam" else system
    ctx = replace(context(), axes={"assembly": assembly, "pick": scorer, "dataset": DATASET.name})
    outputs = {}
    assemble_contexts.run(SimpleNamespace(**options), Tables(inputs), outputs, ctx)
    same(smoke, asked, secateur.Memory(system, assembly=assembly), outputs["contexts"])


def test_contexts_are_worth_what_the_pipeline_says(smoke, asked):
    memory = remembering("graph_zsum", smoke.root / DOCUMENTS)
    passages = dict(tables(smoke, "evidence", "questions/evidence.parquet").select("passage_id", "text").iter_rows())
    gold: dict[str, dict[str, str]] = {}
    evidence = tables(smoke, "evidence", "questions/evidence.parquet").sort("n")
    for question, passage, text in evidence.select("question_id", "passage_id", "text").iter_rows():
        gold.setdefault(question, {})[passage] = text or passages[passage]
    contexts = {q: memory.retrieve(text, 128) for q, text in asked.items() if q in gold}
    mine = secateur.evaluate(contexts, asked, gold)
    where = "evidence/contexts/graph/*.blind.*.default/graph/none/*/default.smollm2/question_metrics.parquet"
    figures = tables(smoke, "question_metrics", where).filter(pl.col("hop").is_null())
    known = {(q, m): v for q, m, v in figures.select("question_id", "metric", "value").iter_rows()}
    for question, metric, value in mine.iter_rows():
        assert known[question, f"{metric}@128"] == pytest.approx(value), (question, metric)
    assert mine["metric"].n_unique() == 4
    nothing = secateur.compare(mine, mine)
    assert nothing["difference"].to_list() == [0.0] * 4


@pytest.fixture(scope="module")
def memory(smoke) -> secateur.Memory:
    return remembering("graph_zsum")


def test_a_context_says_where_each_part_comes_from(memory):
    found = memory.retrieve(QUESTION, budget=60)
    assert found.tokens <= 60
    assert str(found) == found.text == "".join(source.text for source in found.sources)
    assert {source.doc_id for source in found.sources} <= set(TEXTS)
    assert "Leeds" in found.text


def test_what_is_read_later_is_found_and_what_is_read_again_is_replaced(smoke):
    made = secateur.Memory("title_zsum")
    assert made.index(list(TEXTS.values())) == 6
    assert made.index({"river": "The Aire flows into the Ouse."}) == 7
    assert "Ouse" in made.retrieve("What does the Aire flow into?", 30).text
    assert made.index({"river": "The Aire flows into the sea."}) == 7
    assert "Ouse" not in made.retrieve("What does the Aire flow into?", 200).text


@pytest.mark.parametrize("system", ["graph_zsum", "title_zsum", "bm25", "secateur"])
def test_what_was_removed_is_as_if_it_had_never_been_there(smoke, system):
    made = remembering(system, TEXTS | {"secret": "Ann Alder sold the mill in Leeds to Cob Ltd in May."})
    count, never = len(made), remembering(system)
    assert made.remove("secret") == len(made) == len(never) == count - 1
    assert made.documents == never.documents
    assert made.retrieve(QUESTION, 80) == never.retrieve(QUESTION, 80)
    with pytest.raises(secateur.SecateurError, match="document 'secret': allowed: "):
        made.remove([next(iter(TEXTS)), "secret"])
    assert made.documents == never.documents
    assert (made.remove(list(TEXTS)), len(made), made.documents) == (0, 0, {})
    with pytest.raises(secateur.SecateurError, match="has no texts"):
        made.retrieve(QUESTION)
    made.index(TEXTS)
    assert made.retrieve(QUESTION, 80) == never.retrieve(QUESTION, 80)


def test_a_ranker_by_words_embeds_nothing_saved_or_not(smoke, tmp_path, monkeypatch):
    monkeypatch.setattr(Embedder, "embed", lambda *_: pytest.fail("embedded"))
    made = remembering("bm25")
    made.save(tmp_path / "kept")
    assert not list((tmp_path / "kept").glob("*.safetensors"))
    assert secateur.Memory.load(tmp_path / "kept").retrieve(QUESTION, 60) == made.retrieve(QUESTION, 60)


def test_no_statistics_of_use_are_sent_or_kept_in_a_home(tmp_path):
    code = "import secateur; m = secateur.Memory('minilm'); m.index(['It rains.']); m.retrieve('Rain?')"
    environment = os.environ | {"HOME": str(tmp_path), "CI": "", "PYTHONPATH": str(Path("workflow").absolute())}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, capture_output=True)
    assert not (tmp_path / "intel").exists()


def test_an_event_loop_goes_on_while_texts_are_read_and_questions_asked(smoke):
    async def program() -> tuple[list, secateur.Retrieved, int]:
        made, ticks = secateur.Memory("title_zsum"), 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0)

        ticking = asyncio.create_task(tick())
        await made.aindex(TEXTS)
        found = await asyncio.gather(*(made.aretrieve(QUESTION, 60) for _ in range(3)))
        ticking.cancel()
        return found, made.retrieve(QUESTION, 60), ticks

    found, alone, ticks = asyncio.run(program())
    assert found == [alone] * 3
    assert ticks > 3


def test_a_context_that_nothing_fits_holds_none_of_the_evidence(memory):
    nothing = memory.retrieve(QUESTION, 1)
    assert nothing.text == ""
    figures = secateur.evaluate({"q": nothing}, {"q": QUESTION}, {"q": {"deal": TEXTS["deal"]}})
    assert figures.filter(metric="evidence_recall")["value"].to_list() == [0.0]


def test_unnamed_texts_stand_in_the_order_of_their_list(smoke):
    texts = [f"The mill has room {n}." for n in range(12)]
    made = remembering("title_zsum", texts, assembly="default+placement=as_written")
    assert made.retrieve("Which rooms does the mill have?", 500).text.splitlines() == texts


@pytest.mark.parametrize("form", ["ids", "matrix"])
def test_symbols_are_worth_the_facts_that_they_stand_for(smoke, form):
    plain = remembering("title_zsum").retrieve(QUESTION, 60)
    gold = {source.passage_id: source.text.strip() for source in plain.sources}
    recalls = []
    for kind in ("words", form):
        made = remembering("graph_zsum", assembly=f"lines+form.kind={kind}")
        figures = secateur.evaluate({"q": made.retrieve(QUESTION, 400)}, {"q": QUESTION}, {"q": gold})
        recalls.append(figures.filter(metric="evidence_recall")["value"][0])
    assert recalls[0] == recalls[1] > 0


def test_a_system_without_its_reranker_ranks_as_before_it_and_its_parts_can_be_scored(smoke):
    found = remembering("rag_rerank", overrides=["system.reranker=none"]).retrieve(QUESTION, 60)
    assert found == remembering("minilm").retrieve(QUESTION, 60)
    scored = secateur.score(QUESTION, None, [source.text for source in found.sources])
    assert sorted(scored["candidate"]) == list(range(len(found.sources)))


def test_two_readings_make_the_memory_that_one_makes(smoke):
    parts = secateur.Memory("graph_zsum")
    for doc, text in TEXTS.items():
        parts.index({doc: text})
    assert parts.retrieve(QUESTION, 80) == remembering("graph_zsum").retrieve(QUESTION, 80)


@pytest.mark.parametrize("system", ["graph_zsum", "title_zsum"])
def test_a_memory_that_was_saved_is_the_same_memory(smoke, tmp_path, system):
    made = remembering(system)
    made.save(tmp_path / "kept")
    again = secateur.Memory.load(tmp_path / "kept")
    assert again.retrieve(QUESTION, 80) == made.retrieve(QUESTION, 80)
    names = {path.suffix for path in (tmp_path / "kept").iterdir()}
    assert names == {".parquet", ".safetensors", ".json"}
    with pytest.raises(secateur.SecateurError, match="exists already"):
        made.save(tmp_path / "kept")


@pytest.mark.parametrize("system", ["graph_zsum", "title_zsum"])
def test_a_memory_of_a_dialogue_reads_who_speaks_as_the_pipeline_does(smoke, tmp_path, system):
    said = [("Ann", "The tax office moved to Leeds."), ("Bob", "I went to Paris."), ("Carol", "I went to Paris.")]
    objects = [{"id": f"p{n}", "text": text, "speaker": name} for n, (name, text) in enumerate(said)]
    (tmp_path / "passages.jsonl").write_text("\n".join(map(json.dumps, objects)))
    made = remembering(system, tmp_path)
    made.save(tmp_path / "kept")
    kept = load_file(tmp_path / "kept/vectors.safetensors")["texts_read"]
    np.testing.assert_array_equal(kept, made.embedder.embed([f"{name}: {text}" for name, text in said]))
    save_file({"passages": kept}, tmp_path / "kept/vectors.safetensors")  # of a release that left out speakers
    with pytest.raises(secateur.SecateurError, match="index the texts again"):
        secateur.Memory.load(tmp_path / "kept")


def test_threads_ask_at_once_while_texts_are_read(memory):
    questions = [QUESTION, "Who built the mill?", "Where does it rain?", "What was the price?"] * 5
    alone = [memory.retrieve(question, 60) for question in questions]
    reading = threading.Thread(target=memory.index, args=({"more": "York lies on the Ouse. It rains in York."},))
    reading.start()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda question: memory.retrieve(question, 60), questions))
    reading.join()
    after = [memory.retrieve(question, 60) for question in questions]
    for before, during, later in zip(alone, together, after, strict=True):
        assert during in (before, later)


def test_vectors_are_right_while_texts_are_read_and_questions_asked(smoke, tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path))  # nothing is known, all is computed
    made, asked = remembering("title_zsum"), [f"Who sold the {n} mills of {n} towns?" for n in range(40)]
    many = {f"d{n}": f"Town {n} has {n * 7} mills and {n} arches. It was sold {n} times." for n in range(150)}
    reading = threading.Thread(target=made.index, args=(many,))
    reading.start()
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda question: made.retrieve(question, 60), asked * 3))
    reading.join()
    alone = remembering("title_zsum", TEXTS | many)
    for question in asked:
        np.testing.assert_allclose(made.vectors.embed([question]), alone.vectors.embed([question]), atol=1e-6)
        assert made.retrieve(question, 60) == alone.retrieve(question, 60)


def test_a_question_loads_no_parser_writes_no_file_and_counts_no_passage_again(smoke, tmp_path, monkeypatch):
    loaded, load = [], openie.load_parser
    monkeypatch.setattr(openie, "load_parser", lambda model: loaded.append(1) or load(model))
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path))
    for name in ("embeddings", "tokenizers"):  # converted weights, which take seconds to make and nobody writes to
        shutil.copytree(smoke.root / ".cache" / name, tmp_path / name, copy_function=os.link)
    made = remembering("beam")
    before, read = {path for path in tmp_path.rglob("*") if path.is_file()}, len(loaded)
    embedded, encode = [], made.embedder.encode
    monkeypatch.setattr(made.embedder, "encode", lambda texts: embedded.extend(texts) or encode(texts))
    counter = made._ready.assembly.material.count
    counted, count = [], counter.count
    monkeypatch.setattr(counter, "count", lambda texts: counted.extend(texts) or count(texts))
    asked = ["Who bought the mill that Thomas Finch built?", "Which river flows through Leeds?"]
    for question in asked:
        made.retrieve(question, 40)
    assert len(loaded) == read
    assert {path for path in tmp_path.rglob("*") if path.is_file()} == before
    assert set(asked) < set(embedded)
    assert not {"Thomas Finch built mill", "river flows through Leeds"} & set(embedded)  # lines: runs alone need them
    passages = {f"{text}\n" for text in made._ready.passages["text"]}
    assert counted
    assert not passages & set(counted)


def test_candidates_are_ranked_by_how_far_they_move_the_answer(smoke):
    found = secateur.score("Who bought the mill?", "Alder Ltd", ["It rains in Leeds.", "Alder Ltd bought the mill."])
    assert found["candidate"].to_list() == [1, 0]
    assert found["signed"][0] > 0


def test_a_name_that_the_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="Memmory"):
        _ = secateur.Memmory
