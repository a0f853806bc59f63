"""Other systems in a run: one that works, and others that fail in their ways; the rows of those that fail are missing."""

import html

import polars as pl
import pytest

pytestmark = pytest.mark.slow

CORPUS, DATA = "results/toy_documents_smoke", "results/toy_documents_smoke/toy_documents_smoke"
BROKEN = '''
"""A peer that fails in the way that it is told."""
from dataclasses import dataclass
from secateur.peers.adapters._client import Client

SPLITS = True


@dataclass(frozen=True)
class Settings:
    fails: str


class Peer:
    def __init__(self, settings, folder, url):
        self.fails, self.client = settings.fails, Client(url)

    def index(self, documents):
        if self.fails == "index":
            raise MemoryError("no room")
        if self.fails == "call":
            self.client.ask("SING")

    def ask(self, question):
        if self.fails == "long":
            self.client.ask("ANSWER " + "word " * 100)


def context(prompt):
    return [prompt.last] if prompt.last.startswith("ANSWER") else None


def reply(prompt, extraction):
    return "none" if context(prompt) else None
'''
MISSING = {
    "index": "MemoryError: no room",
    "call": "has no reply to a prompt that ends with 'SING'",
    "silent": "it did not ask for an answer",
    "long": "more than peer.longest (99)",
    "alone": "its environment is not installed",
}
SYSTEM = "defaults: [_default, _self_]\nfamily: peer\npeer: {}\norders: [aware]\n"
OPTIONS = {
    **{f"system/peer_{name}": SYSTEM.format(f"peer_{name}") for name in MISSING},
    **{
        f"peer/peer_{name}": f"adapter: {{kind: mypeers.broken, fails: {name}}}\n"
        f"environment: {'nothing' if name == 'alone' else 'null'}\nlongest: 99\n"
        for name in MISSING
    },
    "experiment/peered": "title: Peers\ndatasets: [toy_documents_smoke]\naxes: {assembly: [sent]}\nexclude: [{order: blind}]\n"
    f"systems: [title_zsum, raptor, {', '.join(f'peer_{name}' for name in MISSING)}]\n",
}


@pytest.fixture(scope="module")
def peered(smoke, tmp_path_factory):
    project = smoke.copied(tmp_path_factory.mktemp("peers") / "project")
    for name, text in OPTIONS.items():
        (project.root / f"conf/{name}.yaml").write_text(text)
    (project.root / "mypeers").mkdir()
    (project.root / "mypeers/broken.py").write_text(BROKEN)
    (project.root / "envs/peers").mkdir(parents=True, exist_ok=True)
    (project.root / "envs/peers/nothing.txt").write_text("./no_such_package.whl\n")
    done = project.snakemake("--config", "experiment=peered")
    assert done.returncode == 0, done.stdout + done.stderr
    return project


def test_a_peer_has_the_figures_of_any_system(peered):
    metrics = pl.read_parquet(peered.root / "results/experiments/peered/metrics.parquet")
    own = metrics.filter(pl.col("system") == "raptor:controlled")
    twin = metrics.filter((pl.col("system") == "title_zsum") & (pl.col("order") == "aware"))
    measured = set(twin["metric"])
    assert measured
    assert measured <= set(own["metric"])
    assert {"peer_calls", "peer_tokens_read", "peer_prompt_tokens"} <= set(own["metric"])
    assert set(own["order"]) == {"aware"}
    pairs = pl.read_parquet(peered.root / "results/experiments/peered/comparisons.parquet")
    assert "ranker" in set(pairs.filter(system="raptor:controlled")["axis"])


def test_what_it_sends_is_the_text_of_its_prompt(peered):
    folder = peered.root / DATA / "rankings/peer/raptor.controlled.openie.minilm"
    sent = pl.read_parquet(folder / "sent.parquet").sort("question_id", "place")
    own = "contexts/peer/raptor.controlled.openie.minilm/peer/none/text/sent.smollm2/contexts.parquet"
    contexts = pl.read_parquet(peered.root / DATA / own)
    assert set(contexts["form"]) == {"sent"}
    largest = contexts.filter(budget=contexts["budget"].max()).sort("question_id", "place")
    question = largest["question_id"][0]
    said = sent.filter(question_id=question)["text"].to_list()
    assert [line.rstrip("\n") for line in largest.filter(question_id=question)["text"]] == said[
        : largest.filter(question_id=question).height
    ]
    texts = dict(
        pl.read_parquet(peered.root / CORPUS / "passages/passages.parquet").select("passage_id", "text").iter_rows()
    )
    traced = sent.drop_nulls("passage_id")
    assert traced.height
    for passage, text in traced.select("passage_id", "text").iter_rows():
        assert "".join(filter(str.isalnum, texts[passage])) == "".join(filter(str.isalnum, text))


def test_one_that_fails_has_no_row_and_the_page_says_why(peered):
    metrics = pl.read_parquet(peered.root / "results/experiments/peered/metrics.parquet")
    assert not [name for name in metrics["system"].unique() if name.startswith("peer_")]
    page = (peered.root / "results/experiments/peered/report.html").read_text()
    for why in MISSING.values():
        assert html.escape(why) in page
    costs = pl.read_parquet(peered.root / CORPUS / "peers/peer_index.controlled.openie.minilm/peer_costs.parquet")
    assert costs["failure"].to_list() == [MISSING["index"]]
