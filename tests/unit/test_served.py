"""Models behind a server: the same figures as in process, what a server cannot give, and trouble on the way."""

import os
import threading
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.support.scoring_server import APIS, serving

from secateur.config import compose, plugins
from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.ecs.adhoc import rank
from secateur.ecs.columns import check_backend
from secateur.ecs.reading.judge import JUDGES
from secateur.ecs.reading.sweep import statistics
from secateur.ecs.reading.template import Passage, Question
from secateur.ecs.scoring.score import columns, score
from secateur.models.causal import CausalLM
from secateur.models.prepare import prepare
from secateur.models.reader import load
from secateur.models.served import Served

pytestmark = pytest.mark.usefixtures("bare")
ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))
SMOLLM2 = compose.option(ROOT / "conf", "lm", "smollm2")
OPTIONS = {"vllm": "vllm_qwen2_5_7b", "sglang": "sglang_llama3_1_8b"}
ASKED_FOR = [("q1", "What had she swallowed?", "half a tennis ball"), ("q2", "Who left his flat?", None)]
SAID = [("p1", "half a tennis ball", "Mira", "May"), ("p2", "Jonas left .", None, None), ("p3", " ", "Jonas", None)]
QUESTIONS = pl.DataFrame(ASKED_FOR, ["question_id", "text", "answer"], orient="row").with_columns(group_id=pl.lit("g"))
PASSAGES = pl.DataFrame(SAID, ["passage_id", "text", "speaker", "date"], orient="row").with_columns(
    group_id=pl.lit("g")
)
SCORES = compose.option(ROOT / "conf", "rankers", "utility").scores
ASKED = (*JUDGES, "rival_share")
GIVEN = ("signed", "signed_mean", "signed_share", "signed_contrast", "signed_first", "pmi_q", "kl_topk:paper", *JUDGES)


@pytest.fixture(params=APIS)
def backend(request):
    return request.param


@pytest.fixture
def server(tiny_lm, backend):
    with serving(APIS[backend](tiny_lm(chat=True), "tiny", "org/tiny", 300)) as one:
        yield one


def option(backend, url, **changes):
    """The shipped option, with delays that cost no time."""
    shipped = compose.option(ROOT / "conf", "lm", OPTIONS[backend])
    fast = {"model": "org/tiny", "window": 256, "top_logprobs": 20, "timeout": 10.0, "delays": (0.0, 0.0)}
    return replace(shipped, url=url, **fast | {"max_wait": 5.0, "concurrency": 2} | changes)


def client(server, tiny_lm, **changes):
    changes = {"url": server.url} | changes
    cfg = option("sglang" if server.api.path == "/generate" else "vllm", **changes)
    return Served(cfg, tiny_lm(chat=True).tokenizer, plugins.load("reader", cfg.backend))


def table(lm, cfg, passages=PASSAGES, **more):
    return pl.concat(statistics(lm, QUESTIONS, passages, cfg, **more))


def assert_alike(own, told, names, tolerance):
    for name in names:
        a, b = (score(t, SCORES[name])["value"] for t in (own, told))
        assert a.is_null().equals(b.is_null()), name
        assert a.drop_nulls().len(), name
        assert (a - b).abs().max() <= tolerance, name


@pytest.mark.parametrize("layout", ["passage_first", "question_first"])
@pytest.mark.parametrize("bos", [False, True])
def test_a_server_gives_the_scores_of_the_model_it_serves(tiny_lm, ecs, backend, layout, bos):
    own, cfg = tiny_lm(chat=True, bos=bos), ecs(top_k=20, layout=layout)
    with serving(APIS[backend](own, "tiny", "org/tiny", 300)) as server:
        lm = Served(option(backend, server.url), own.tokenizer, plugins.load("reader", backend))
        told = table(lm, cfg, probes=ASKED)
    check(TABLES["statistics"], told, "here", "none")
    here = table(own, cfg, probes=ASKED)
    names = set(GIVEN) - ({"pmi_q"} if layout == "question_first" else set())
    same = ["question_id", "passage_id", "tokens", "prompt_tokens", "cut", "answer_tokens", "question_tokens"]
    assert told.select(same).equals(here.select(same))
    assert_alike(here, told, names, 1e-5)


@pytest.fixture(scope="module")
def smollm2():
    """In float64, so that what differs is not the rounding of another batch."""
    one = load(SMOLLM2, CACHE)
    return CausalLM(one.model.double(), one.tokenizer, one.encoder.window, one.pack, one.name, "doubled")


def test_smollm2_behind_a_server_scores_as_in_process(smollm2, ecs, backend):
    folder, cfg = prepare(SMOLLM2.model, CACHE), ecs()
    with serving(APIS[backend](smollm2, "served", folder, 2048, 50)) as server:
        lm = load(option(backend, server.url, model=folder, top_logprobs=50), CACHE)
        told = table(lm, cfg, PASSAGES.head(1))
    assert_alike(table(smollm2, cfg, PASSAGES.head(1)), told, ("signed", "pmi_q", "kl_topk:paper"), 1e-5)


def test_a_cut_context_loses_the_same_tokens(server, tiny_lm, ecs):
    passages = PASSAGES.with_columns(text=pl.lit("Ghent " * 60))
    here, told = (table(lm, ecs(), passages) for lm in (tiny_lm(window=40), client(server, tiny_lm, window=40)))
    assert told["cut"].max() > 0
    assert told["cut"].equals(here["cut"])
    assert_alike(here, told, ("signed",), 1e-5)


def test_what_is_sent_are_our_tokens_and_sampling_that_leaves_probabilities_alone(server, tiny_lm, ecs):
    lm = client(server, tiny_lm, top_logprobs=0)
    rank(lm, ecs(), Question("q", "What?", "a ball"), [Passage("p", "half a tennis ball")])
    sent = [request.get("prompt") or request["input_ids"] for request in server.asked]
    texts = ["Question: What?\nAnswer: a ball", "half a tennis ball\nQuestion: What?\nAnswer: a ball"]
    assert sent == [lm.tokenizer(text).input_ids for text in texts]
    for request in server.asked:
        sampling = request.get("sampling_params", request)
        assert (sampling["temperature"], sampling["top_p"], sampling["top_k"], sampling["min_p"]) == (1, 1, -1, 0)


def test_every_other_scorer_is_null_and_the_rows_say_no_more_than_the_server(server, tiny_lm, ecs):
    told = table(client(server, tiny_lm), ecs(top_k=20))
    for name in set(SCORES) - set(GIVEN):
        assert score(told, SCORES[name])["value"].null_count() == 6, name


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_given_or_refused_by_name(tiny_lm, ecs, backend, name):
    lm, cfg = option(backend, "http://x", top_logprobs=50), ecs()
    wanted = {name: columns(SCORES[name])}
    check_backend(tiny_lm(), cfg, wanted)
    check_backend(SMOLLM2, cfg, wanted)
    if name in GIVEN or name.endswith("_binary"):
        check_backend(lm, cfg, wanted)
        return
    with pytest.raises(SecateurError, match=rf"score {name} .*backend {backend}: .*Fix: leave it out; or "):
        check_backend(lm, cfg, {"signed": columns("signed")} | wanted)


def test_the_papers_divergence_needs_as_many_tokens_as_it_sums(server, tiny_lm, ecs):
    lm = client(server, tiny_lm, top_logprobs=19)
    assert table(lm, ecs(top_k=20))["kl_paper"].null_count() == 8
    with pytest.raises(SecateurError, match=r"kl_topk:paper .*20\) most probable.*is 19.*Fix: lm\.top_logprobs=20"):
        check_backend(lm, ecs(top_k=20), {"kl_topk:paper": columns(SCORES["kl_topk:paper"])})


@pytest.mark.parametrize("probe", ["trajectory_ctx", "trajectory_base"])
def test_a_probe_a_server_cannot_give_is_refused_before_anything_is_scored(server, tiny_lm, ecs, probe):
    with pytest.raises(SecateurError, match="is not available on backend"):
        table(client(server, tiny_lm), ecs(), probes=[probe])
    assert server.asked == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "org/other"}, r"serves tiny, not lm\.model org/other\. Fix: .*--served-model-name org/other"),
        ({"window": 299}, r"takes 300 tokens.*window of 299.*Fix: lm\.window=298"),
        ({"url": "http://127.0.0.1:9"}, r"http://127\.0\.0\.1:9/v1/models: ConnectError.*3 attempts"),
    ],
    ids=["another model", "less than the window", "not there"],
)
def test_a_server_that_is_not_the_one_that_is_asked_for_is_refused(server, tiny_lm, changes, said):
    client(server, tiny_lm, window=298)
    with pytest.raises(SecateurError, match=said):
        client(server, tiny_lm, **changes)
    backend = "sglang" if server.api.path == "/generate" else "vllm"
    with pytest.raises(SecateurError, match=rf"lm\.url is needed by backend {backend}.*Fix: conf/lm"):
        load(option(backend, None), CACHE)


def test_scores_are_known_by_backend_and_stated_model_but_not_by_address_and_key(tiny_lm, monkeypatch):
    found = []
    for name, stated in (("vllm", "tiny"), ("vllm", "tiny"), ("vllm", "tuned"), ("sglang", "tiny")):
        with serving(APIS[name](tiny_lm(chat=True), stated, "org/tiny", 300)) as server:
            found.append(client(server, tiny_lm).identity)
            assert client(server, tiny_lm, window=128).identity not in found
        monkeypatch.setenv("SECATEUR_API_KEY", "sk-secret-0123456789")
    assert found[0] == found[1]
    assert len(set(found)) == 3


def held(reply) -> tuple[dict, str]:
    """The part of a reply that holds the log-probabilities of the prompt, and their name."""
    if "meta_info" in reply:
        return reply["meta_info"], "input_token_logprobs"
    return reply["choices"][0], "prompt_logprobs"


def ending_in(value):
    """A change of the last token's log-probability: 12.5 as vLLM with --logprobs-mode raw_logits, -9999.0 as for -inf."""

    def change(reply):
        inside, name = held(reply)
        if name == "prompt_logprobs":
            inside[name][-1] = {token: {"logprob": value} for token in inside[name][-1]}
        elif name in inside:
            inside[name][-1][0] = value

    return change


def shortened(reply):
    """A reply with one entry less than the prompt has tokens."""
    inside, name = held(reply)
    inside[name].pop()


def without_logprobs(reply):
    inside, name = held(reply)
    del inside[name]


UNUSABLE = {  # what else is no reply: contract/test_bad_input_answers.py, over the same client
    "html": (200, {}, "<!doctype html>"),
    "null": (200, {}, "null"),
    "empty": (200, {}, '{"choices": []}'),
    "silence": "silence",
    "short": shortened,
    "logits": ending_in(12.5),
    "vllm's stand-in": ending_in(-9999.0),
    "least half": ending_in(-65504.0),
    "minus infinity": ending_in(float("-inf")),
    "none": ending_in(None),
    "not a number": (200, {}, '{"choices": [{"prompt_logprobs": NaN}], "meta_info": {"input_token_logprobs": [NaN]}}'),
}


@pytest.mark.parametrize("kind", UNUSABLE)
def test_an_unusable_answer_is_asked_for_again(server, tiny_lm, ecs, kind):
    lm, cfg = client(server, tiny_lm, top_logprobs=0, concurrency=1, timeout=0.5 if kind == "silence" else 10.0), ecs()
    expected = table(lm, cfg)
    asked = len(server.asked)
    server.script.append(UNUSABLE[kind])
    assert table(lm, cfg).equals(expected)
    assert len(server.asked) == 2 * asked + 1


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ending_in(-9999.0), r"-9999.0 is no log-probability; allowed: -500 to 0.*3 attempts"),
        ((400, {}, '{"message": "maximum context length is 8."}'), r"status 400: .*maximum context"),
        (without_logprobs, r"have no log-probabilities of the prompt\. Fix: lm\.url"),
    ],
    ids=["stand-in for a log-probability", "refused prompt", "no log-probabilities"],
)
def test_what_is_no_score_ends_the_stage_and_is_asked_for_again_where_that_may_help(server, tiny_lm, ecs, reply, said):
    lm = client(server, tiny_lm, top_logprobs=0, concurrency=1)
    server.always = reply
    with pytest.raises(SecateurError, match=said):
        table(lm, ecs())
    assert reply is not without_logprobs or len(server.asked) <= 2


def test_a_server_that_knows_no_named_tokens_cannot_judge(tiny_lm, ecs):
    """As a vLLM without `logprob_token_ids`: it gives its most probable tokens instead."""
    api = APIS["vllm"](tiny_lm(chat=True), "tiny", "org/tiny", 300)
    inner = api.reply
    api.reply = lambda request: inner({k: v for k, v in request.items() if k != "logprob_token_ids"})
    with serving(api) as server, pytest.raises(SecateurError, match=r"no log-probabilities of named tokens\. Fix: "):
        table(client(server, tiny_lm), ecs(), probes=["judge_factual"])


def test_an_endpoint_that_dies_ends_in_one_message_and_what_was_scored_is_kept(server, tiny_lm, ecs, tmp_path):
    lm, cfg = client(server, tiny_lm, top_logprobs=0, concurrency=1), ecs(passages=1)
    whole = table(lm, cfg)
    server.asked.clear()
    pieces = statistics(lm, QUESTIONS, PASSAGES, cfg, cache=tmp_path)
    done = [next(pieces), next(pieces)]
    server.always = (500, {}, "")
    with pytest.raises(SecateurError, match=r"status 500, after 3 attempts\. Fix: check the server.*cached"):
        list(pieces)
    server.always = None
    server.asked.clear()
    again = table(client(server, tiny_lm, top_logprobs=0), cfg, cache=tmp_path)
    assert again.equals(whole)
    assert again.head(4).equals(pl.concat(done))
    assert len(server.asked) == 6  # two blocks of two pairs, after the two questions alone


def test_as_many_requests_as_allowed_are_under_way_and_no_more(server, tiny_lm, ecs):
    """The first two wait for each other, so one at a time would end in their timeout."""
    meeting = threading.Barrier(2, timeout=5)
    server.script += [lambda reply: meeting.wait()] * 2
    table(client(server, tiny_lm, concurrency=2), ecs())
    assert server.most == 2
