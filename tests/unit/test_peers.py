"""What a peer is told and what it says: prompts, tracing, the endpoint, its process; on real sockets and processes."""

import json
import sys
import urllib.error
import urllib.request
from base64 import b64decode
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from secateur.contexts.tracing import Tracer
from secateur.core.errors import SecateurError
from secateur.models.http import Unusable
from secateur.peers import work
from secateur.peers.corpus import TracedExtraction, documents_of, extraction_of, groups_of
from secateur.peers.endpoint import Endpoint
from secateur.peers.environment import install
from secateur.peers.replies import Unanswered, _completion_text, controlled, released
from secateur.peers.wire import Fact, between, column_of, entity_passages, fenced
from secateur.peers.worker import PeerFailed, Worker

pytestmark = pytest.mark.usefixtures("bare")  # a proxy of the machine does not serve its own servers

TEXTS = ["Ann Lee was born in Ghent.", "She moved to Kent (1999)!", "It rained.", "Ghent has 260,000 people."]
MODULE = '''
"""A peer of a test."""
import json, os, time, urllib.request
from dataclasses import dataclass

SPLITS = True


@dataclass(frozen=True)
class Settings:
    does: str = "answer"


class Peer:
    def __init__(self, settings, folder, url):
        if settings.does == "no start":
            import no_such_library
        self.settings, self.folder, self.url = settings, folder, url

    def _call(self, text):
        body = {"model": "served", "messages": [{"role": "user", "content": text}]}
        asked = urllib.request.Request(f"{self.url}/chat/completions", json.dumps(body).encode())
        return json.load(urllib.request.urlopen(asked))["choices"][0]["message"]["content"]

    def index(self, documents):
        print("this is no reply")
        (self.folder / "index.json").write_text(self._call("EXTRACT " + " ".join(one.text for one in documents)))

    def ask(self, question):
        if self.settings.does == "hang":
            time.sleep(60)
        if self.settings.does == "die":
            print("out of memory")
            os._exit(3)
        if question == "raise":
            raise ValueError("bad question")
        self._call("ANSWER " + (self.folder / "index.json").read_text())


def context(prompt):
    return prompt.last.removeprefix("ANSWER ").split("|") if prompt.last.startswith("ANSWER") else None


def reply(prompt, extraction):
    if context(prompt) is not None:
        return "none"
    if prompt.last.startswith("EXTRACT"):
        return "|".join(fact.passage for fact in extraction.facts(prompt.last))
    return None
'''


@pytest.fixture
def adapter(tmp_path, monkeypatch) -> ModuleType:
    (tmp_path / "mypeers").mkdir()
    (tmp_path / "mypeers/one.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("mypeers.one", None)
    return import_module("mypeers.one")


def extraction() -> TracedExtraction:
    facts = {0: [Fact("Ann Lee", "born in", "Ghent", TEXTS[0])], 3: [Fact("Ghent", "has", "260,000 people", TEXTS[3])]}
    return TracedExtraction(TEXTS, facts, {"Where was Ann born?": ["Ann"]})


def count(texts):
    return np.array([len(text.split()) for text in texts], np.int64)


def call(url: str, **body) -> dict:
    path = "embeddings" if "input" in body else "chat/completions"
    return json.load(urllib.request.urlopen(urllib.request.Request(f"{url}/{path}", json.dumps(body).encode())))


@pytest.fixture
def started(adapter, tmp_path):
    with ExitStack() as made:

        def start(does: str = "answer"):
            endpoint = Endpoint(adapter, controlled(adapter, extraction()), lambda texts: np.eye(len(texts), 3), count)
            url = made.enter_context(endpoint.serving())
            folder, path = tmp_path / "work", f"{Path('workflow').resolve()}:{tmp_path}"
            folder.mkdir()
            worker = Worker(sys.executable, {"PYTHONPATH": path}, folder, tmp_path / "log")
            made.callback(worker.end)
            worker.create("mypeers.one", {"does": does}, url, 60)
            return worker, endpoint, url

        yield start


def test_a_peer_indexes_and_its_context_is_caught_at_the_endpoint(started, tmp_path):
    worker, endpoint, _ = started()
    with endpoint.counting() as phase:
        worker.index([{"title": "", "text": " ".join(TEXTS)}], 60)
    assert phase.counts["calls"] == 1
    assert phase.counts["tokens_in"] == 1 + sum(len(text.split()) for text in TEXTS)
    assert phase.context is None
    with endpoint.counting() as phase:
        worker.ask("Where was Ann born?", 60)
    assert phase.context == [TEXTS[0], TEXTS[3]]
    assert phase.counts["answering"] == phase.counts["tokens_in"] > 0
    assert "this is no reply" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("does", "question", "seconds", "said"),
    [
        ("answer", "raise", 60, "ValueError: bad question"),
        ("die", "x", 60, r"ended while it answers \(exit code 3\): out of memory"),
        ("hang", "x", 0.2, "answers for longer than 0.2 s"),
    ],
)
def test_what_a_peer_does_wrong_is_said(started, does, question, seconds, said):
    worker, _, _ = started(does)
    with pytest.raises(PeerFailed, match=said):
        worker.ask(question, seconds)
    assert worker.ended == (does != "answer")


def test_a_peer_that_lacks_a_library_says_which(started):
    with pytest.raises(PeerFailed, match="ModuleNotFoundError: No module named 'no_such_library'"):
        started("no start")


def test_a_call_that_nobody_can_answer_is_refused_and_kept(started):
    _, endpoint, url = started()
    sung = [{"role": "user", "content": "SING"}]
    with pytest.raises(urllib.error.HTTPError) as refused:
        call(url, messages=sung)
    assert refused.value.code == 400
    assert "has no reply to a prompt that ends with 'SING'" in endpoint.phase.unanswered[0]
    refused = pytest.raises(urllib.error.HTTPError)
    with pytest.raises(PeerFailed, match="'SING'"), endpoint.counting(), refused:  # though the peer may take no notice
        call(url, messages=sung)


@pytest.mark.parametrize("gives_up", [True, False])
def test_a_service_that_refuses_every_call_is_no_failure_of_the_peer(adapter, gives_up):
    def reply(prompt, body):
        raise SecateurError("refused the request with status 401. Fix: set the key")

    def ask(url: str) -> None:
        with pytest.raises(urllib.error.HTTPError):
            call(url, messages=[])
        if gives_up:
            raise PeerFailed("the peer gave up")

    endpoint, refused = Endpoint(adapter, reply, None, count), pytest.raises(SecateurError, match="Fix: set the key")
    with endpoint.serving() as url, refused, endpoint.counting():
        ask(url)


def test_embeddings_come_as_numbers_or_packed_and_never_of_token_ids(started):
    _, endpoint, url = started()

    def vectors(**more):
        return [one["embedding"] for one in call(url, **{"input": ["a", "b"]} | more)["data"]]

    assert vectors() == np.eye(2, 3).tolist()
    packed = [np.frombuffer(b64decode(one), "<f4").tolist() for one in vectors(encoding_format="base64")]
    assert packed == np.eye(2, 3).tolist()
    with pytest.raises(Unanswered, match="token ids"):
        endpoint.embeddings({"input": [1, 2]})


@pytest.mark.parametrize(
    "reply", [{}, {"choices": []}, {"choices": [{"message": {"content": 3}}]}, {"choices": [{"message": None}]}, [1]]
)
def test_what_is_no_completion_is_no_reply_and_a_refusal_is_one(reply):
    with pytest.raises(Unusable):
        _completion_text(SimpleNamespace(json=lambda: reply))
    refused = {"choices": [{"message": {"content": None, "refusal": "I will not."}}]}
    assert _completion_text(SimpleNamespace(json=lambda: refused)) == "I will not."


def test_a_call_is_passed_on_as_it_is_and_its_reply_is_kept(adapter, tmp_path):
    asked = []

    def model(prompt, body):
        asked.append(body)
        return f"said {len(asked)}"

    upstream = Endpoint(adapter, model, None, count)
    log = SimpleNamespace(warning=lambda *_: None)
    body = {"model": "served", "messages": [{"role": "user", "content": "Hello."}], "temperature": 0, "stream": False}
    with upstream.serving() as url:
        service = SimpleNamespace(url=url, model="real", timeout=5, delays=(), max_wait=0)
        answer = released(service, tmp_path, log)
        assert answer(None, body) == "said 1"
        assert answer(None, body | {"stream": True}) == "said 1"  # the same question, from what was kept
        assert asked == [{"model": "real", "messages": body["messages"], "temperature": 0}]
        tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
        assert answer(None, body | {"tools": [tool]}) == "said 2"  # the arguments of the call
    again = released(service, tmp_path, log)
    assert again(None, body) == "said 1"
    with pytest.raises(Unanswered, match="after 1 attempts"):
        again(None, body | {"temperature": 1})


def test_a_text_is_its_passages_and_what_stands_between_them():
    spans = Tracer(TEXTS).spans('Title\n"Ann Lee was born in Ghent."  She moved to Kent (1999)! And then: it rained')
    expected = [("Title", None), ('"Ann Lee was born in Ghent."', 0)]
    expected += [("She moved to Kent (1999)!", 1), ("And then:", None), ("it rained", 2)]
    assert [(span.text, span.passage) for span in spans] == expected


def test_of_equal_passages_the_one_that_follows_is_meant():
    texts = ["One two three four.", "It rained.", "Five six seven.", "It rained."]
    tracer = Tracer(texts)
    assert tracer.passages("Five six seven. It rained.") == [2, 3]
    assert tracer.passages("One two three four. It rained.") == [0, 1]
    assert tracer.passages("It rained.") == [1]
    assert Tracer(["It rained.", *texts]).passages("It rained. Five six seven.") == [2, 3]
    assert Tracer(["a b c", "a b c d"]).passages("x a b c d") == [1]


WORDS = st.lists(st.sampled_from(["ant", "bee", "cow", "dog", "elk"]), min_size=1, max_size=6).map(" ".join)


@given(st.lists(WORDS, min_size=1, max_size=5), st.data())
def test_no_word_is_lost_and_each_traced_part_says_its_passage(texts, data):
    text = ". ".join(data.draw(st.lists(st.one_of(st.sampled_from(texts), WORDS), min_size=1, max_size=6)))
    spans = Tracer(texts).spans(text)
    said = "".join(c if c.isalnum() else " " for span in spans for c in f"{span.text} ").split()
    assert said == "".join(c if c.isalnum() else " " for c in text).split()
    for span in spans:
        if span.passage is not None:
            assert "".join(c for c in span.text if c not in ".").split() == texts[span.passage].split()


def test_documents_are_their_passages_may_be_cut_between_them_and_belong_to_one_group(tmp_path):
    own = {"doc_id": ["b", "a", "a"], "title": [None, "A", "A"], "position": [0, 1, 0]}
    passages = pl.DataFrame(own | {"text": ["x", "three more words", "one"], "group_id": ["b", "a", "b"]})
    expected = [("A", "one three more words"), ("", "x")]
    assert [(one.title, one.text) for one in documents_of(passages, count, None)] == expected
    assert [one.text for one in documents_of(passages, count, 2)] == ["one", "three more words", "x"]
    found = [(group, name, part["row"].to_list()) for group, name, part in groups_of(passages)]
    assert found == [("a", "group0", [1]), ("b", "group1", [0, 2])]


def test_the_extraction_is_that_of_the_tables_whatever_text_is_shown():
    passages = pl.DataFrame({"passage_id": ["p0", "p1"], "text": TEXTS[:2]})
    ends = {"head": ["ann lee"], "relation": ["born in"], "tail": ["ghent"]}
    triples = pl.DataFrame({"doc_id": ["d"], "position": [0], "n": [0], "passage_id": ["p0"], **ends})
    questions = pl.DataFrame({"question_id": ["q0", "q1"], "text": ["Who was born in Ghent?", "Does rain fall?"]})
    asked = pl.DataFrame({"doc_id": ["q0"], "n": [0], **ends})
    found = extraction_of(passages, triples, questions, asked)
    assert found.facts(f"A title. {TEXTS[1]} {TEXTS[0]} {TEXTS[0]}") == [Fact("ann lee", "born in", "ghent", TEXTS[0])]
    assert found.phrases("Who was born in Ghent? ") == ["ann lee", "ghent"]
    assert found.phrases("Does rain fall?") == ["rain", "fall"]


def test_a_part_of_a_prompt_that_is_not_there_is_empty():
    assert between("a Text: b Text: c END d", "Text:", "END") == "c"
    assert between("nothing", "Text:") == fenced("Head\nnone", "Head") == ""
    assert column_of([["id", "said"], ["0", "x"], ["1"]], "said") == ["x"]
    assert column_of([], "said") == column_of([["id"], ["0"]], "said") == []


def test_an_entity_has_the_first_passage_that_names_it():
    expected = {"Ann Lee": TEXTS[0], "Ghent": TEXTS[0], "260,000 people": TEXTS[3]}
    assert entity_passages(extraction().facts(" ".join(TEXTS))) == expected


def test_a_folder_is_packed_to_the_same_file_and_unpacked(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name / "deep").mkdir(parents=True)
        (tmp_path / name / "deep/file.bin").write_bytes(b"\0\1")
        (tmp_path / name / "a.txt").write_text("a")
        work.pack(tmp_path / name, tmp_path / f"{name}.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    work.unpack(tmp_path / "one.zip", tmp_path / "out")
    assert (tmp_path / "out/deep/file.bin").read_bytes() == b"\0\1"


def test_what_does_not_install_is_said_and_tried_again(tmp_path):
    bad = tmp_path / "bad.txt"
    bad.write_text(f"{tmp_path}/no_such_package.whl\n")
    log = SimpleNamespace(info=lambda *_: None)
    for _ in range(2):
        made = install([bad], tmp_path / "cache", log)
        assert "no_such_package" in made["failure"]
    good = tmp_path / "good.txt"
    good.write_text("# nothing\n")
    made = install([good], tmp_path / "cache", log)
    assert made["failure"] is None
    assert Path(made["python"]).exists()


def test_a_heading_or_a_word_is_a_passage_where_it_stands_alone():
    tracer = Tracer(["No.", "Introduction", "1890", "The mill burned down."])
    assert tracer.passages("There is no evidence of it before 1890 or after an introduction to it.") == []
    assert tracer.passages("# Introduction\nThe mill burned down. No. In 1890.") == [1, 3, 0]
    assert Tracer(["The second war"]).passages("It was rebuilt after the second war ended in 1945.") == []
