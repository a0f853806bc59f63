"""The counts of the real files. They run where a mirror holds them: SECATEUR_MIRROR=DIR."""

import hashlib
import json
import os
from pathlib import Path

import polars as pl
import pytest
from tests.support.loaded import conform, lines

from secateur.datasets.fetch import _selection, fetch
from secateur.datasets.loaders import load_corpus, load_questions
from secateur.datasets.registry import load_registry

MIRROR = os.environ.get("SECATEUR_MIRROR")
pytestmark = pytest.mark.skipif(not MIRROR, reason="SECATEUR_MIRROR names no folder with the real data sets")
REGISTRY = Path(__file__).parents[2] / "data" / "registry"


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Name -> path of a verified copy."""
    folder, registry = tmp_path_factory.mktemp("real"), load_registry(REGISTRY)

    def get(name: str) -> Path:
        if not (folder / name).exists():
            fetch(registry[name], folder / name, Path(MIRROR))
        return folder / name

    return get


def loaded(kind: str, dataset: str, corpus_files, question_files):
    """Corpus and questions, checked against their tables."""
    corpus = load_corpus(kind, corpus_files)
    found = load_questions(kind, dataset, question_files, corpus.passages)
    conform(corpus.passages, found)
    return corpus, found


def stem(real, dataset: str, name: str):
    corpus = {"corpus": real("stem_corpus_plain.json"), "titles": REGISTRY / "stem_titles.yaml"}
    return loaded("stem", dataset, corpus, {"questions": real(name)})


def test_locomo_has_5882_turns_and_1982_scorable_questions_1536_of_them_in_categories_1_to_4(real):
    files = {"conversations": real("locomo10.json")}
    corpus, found = loaded("locomo", "locomo", files, files)
    scorable = found.questions.join(found.evidence.drop_nulls("passage_id"), on="question_id", how="semi")
    assert (corpus.passages.height, corpus.counts["sessions"], found.questions.height) == (5882, 272, 1986)
    assert (scorable.height, scorable.filter(pl.col("type") != "5").height) == (1982, 1536)
    assert found.counts["evidence_unresolved"] == 3
    assert set(found.questions["split"]) == {"test"}


def test_stem_dev_gold_is_verbatim_though_four_sentences_were_quoted_in_two_halves(real):
    corpus, found = stem(real, "stem_dev", "stem_question_dev.json")
    assert (corpus.passages.height, corpus.counts["documents"]) == (26484, 32)
    assert (found.questions.height, found.evidence["passage_id"].null_count()) == (48, 0)
    assert found.evidence.height + found.counts["evidence_repeated"] == 96
    assert found.questions["cluster_id"].unique().to_list() == ["Brown bear"]


def test_stem_old_has_122_scorable_questions_and_202_gold_sentences_over_31_articles(real):
    _, found = stem(real, "stem_old", "old_stem_QnA_modified.json")
    articles = found.evidence["passage_id"].str.replace(r":\d+$", "").n_unique()
    assert (found.questions.height, found.evidence.height, articles) == (122, 202, 31)


def test_musique_has_6462_sentences(real):
    files = {"pool": real("musique_train100.json")}
    corpus, found = loaded("musique", "musique", files, {"questions": files["pool"]})
    assert (corpus.passages.height, corpus.counts["documents"], found.questions.height) == (6462, 1890, 100)


WIKI = "9d6e352952aafb18dab22bf8195039461321a44a949df902ae83bce134ad238a"  # of the file on HippoRAG 2's hub
HOTPOT_KEYS = ["supporting_facts", "level", "question", "context", "answer", "_id", "type"]  # in the order upstream
TOTALS = {"ents_by_doc": [], "avg_ent_chars": float("nan"), "avg_ent_words": float("nan")}
TOTALS |= {"current_cost": 0.0, "approx_total_cost": 0.0}


def ordered(records):
    return [{key: record[key] for key in HOTPOT_KEYS} for record in records]


@pytest.mark.parametrize(
    ("name", "stated", "upstream"),
    [
        ("2wikimultihopqa_corpus.json", (3083943, WIKI), lambda records: json.dumps(records, indent=4)),
        ("hotpotqa_train100.json", 810836, lambda records: json.dumps(ordered(records), indent=4)),
        ("hotpotqa_migres.json", None, lambda records: lines([{"level": "", "found": []} | r for r in records])),
        ("2wikimultihopqa_164.json", None, lambda records: lines([{"_id": "without"}, *records])),
        ("musique_train100.json", 1179088, json.dumps),
        ("openie_musique_train100.json", 3344000, lambda value: json.dumps(value | TOTALS)),
    ],
)
def test_what_the_address_has_becomes_the_mirrors_file(real, name, stated, upstream):
    """stated: the length in characters of the file at the address, as it was read where no file could be fetched."""
    content = real(name).read_bytes()
    there = upstream(json.loads(content))
    assert stated in (None, len(there), (len(there), hashlib.sha256(there.encode()).hexdigest()))
    assert _selection(load_registry(REGISTRY)[name], there.encode()) == content


@pytest.mark.parametrize(
    ("corpus", "questions", "documents", "count", "resolved", "renamed"),
    [
        ("medical_corpus.json", "medical_questions_v1.json", 1, 2062, 0, 0),
        ("medical_corpus.json", "medical_questions_v2.json", 1, 2062, 37, 0),
        ("novel_corpus.parquet", "novel_questions_v1.json", 20, 2010, 0, 1),
        ("novel_corpus.parquet", "novel_questions_v2.json", 20, 2010, 25, 1),
    ],
)
def test_graphrag_bench_evidence_is_seldom_verbatim(real, corpus, questions, documents, count, resolved, renamed):
    files = {"corpus": real(corpus)}, {"questions": real(questions)}
    texts, found = loaded("graphrag_bench", questions.removesuffix(".json"), *files)
    assert (texts.counts["documents"], found.questions.height) == (documents, count)
    assert found.evidence["passage_id"].drop_nulls().len() == resolved
    assert found.counts["duplicate_question_ids_renamed"] == renamed
