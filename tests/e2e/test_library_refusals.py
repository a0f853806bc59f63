"""What a user of the library gives wrongly is refused where it is given, in one message."""

import logging
import re
from functools import partial

import polars as pl
import pytest

import secateur

pytestmark = pytest.mark.usefixtures("smoke_cache")


def test_ids_that_two_folders_share_are_refused(smoke, tmp_path):
    made = secateur.Memory("title_zsum")
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        line = f'{{"id": "p0", "doc": "{name}", "text": "Text of {name}."}}'
        (tmp_path / name / "passages.jsonl").write_text(line)
    made.index(tmp_path / "a")
    with pytest.raises(secateur.SecateurError, match="passage id 'p0' is in documents 'a' and 'b'"):
        made.index(tmp_path / "b")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: secateur.Memory("beem"), "beam"),
        (lambda: secateur.Memory("hipporag2"), "title_zsum"),
        (lambda: secateur.Memory("rag_rerank"), r"pmi_q\. Fix: overrides=.*system.reranker=none"),
        (lambda: secateur.Memory("rankers/bm52"), "allowed: bm25"),
        (lambda: secateur.Memory("oracle_evidence"), "gold evidence"),
        (lambda: secateur.Memory("graph_zsum/bm25"), "no list of rankers"),
        (lambda: secateur.Memory("title_zsum").index("A long text that is no folder. " * 50), "no folder with texts"),
        (lambda: secateur.Memory("title_zsum").retrieve("Who?"), r"memory.index\(\[...\]\)"),
        (lambda: secateur.Memory("title_zsum").index(["  "]), "text:000000: without words"),
        (lambda: secateur.Memory("title_zsum").index("no/such/folder"), "no folder with texts"),
        (lambda: secateur.Memory("title_zsum").save("x"), "has no texts to save"),
        (lambda: secateur.Memory.load("no/such/folder"), "holds no memory"),
        (lambda: secateur.evaluate({"q": "text"}, {}, {"q": ["text"]}), "without text: q"),
        (lambda: secateur.evaluate({"q": "text"}, {"q": "why?"}, {"q": ["text"]}, metrics=["exactt"]), "exactt"),
    ],
)
def test_what_cannot_be_is_answered_in_one_message(smoke, call, said):
    with pytest.raises(secateur.SecateurError, match=said):
        call()


OK = {"q": "Leeds"}, {"q": "Where?"}, {"q": ["Leeds"]}
WRONG = (None, 3, b"x", object(), ("a", 3), {"a": 1})
SURROGATE = "half a character: \ud800"


def lexical(texts=("The mill stands in Leeds.",)) -> secateur.Memory:
    made = secateur.Memory("title_zsum")
    made.index(texts)
    return made


def refused(call, *values, allowed: str) -> None:
    """Each value is answered by one message: what was found, what is allowed, the fix."""
    for value in values:
        with pytest.raises(secateur.SecateurError, match=rf"allowed: .*{allowed}.*Fix: ") as raised:
            call(value)
        assert "\n" not in str(raised.value)


def test_wrong_arguments_of_a_memory_are_refused_at_the_entry(smoke):
    for name in ("system", "order"):
        refused(lambda v, name=name: secateur.Memory(**{name: v}), *WRONG, [], "", allowed=f"an option of conf/{name}")
    for name in ("assembly", "reader"):
        refused(lambda v, name=name: secateur.Memory(**{name: v}), *WRONG[1:], [], "", allowed="an option of conf/")
    refused(lambda v: secateur.Memory(overrides=v), None, 3, "eval.seed=1", allowed="a list of group.key=value")
    refused(lambda v: secateur.Memory(overrides=v), [3], allowed="a text")


def test_wrong_texts_questions_budgets_and_folders_are_refused_at_the_entry(smoke, tmp_path):
    made = lexical()
    refused(made.index, None, 3, b"x", "", allowed="a list of texts, a mapping of id to text, or the path of a folder")
    for value in (*WRONG, SURROGATE):
        refused(made.index, [value], {"a": value}, ["A text.", value], allowed="a text")
    refused(made.index, {3: "A text."}, {"": "A text."}, allowed="ids that are texts")
    refused(made.retrieve, *WRONG, [], "", " ", SURROGATE, allowed="a text with words")
    budgets = None, b"x", ("a", 3), [], 0, -1, "x", True, 2.5
    refused(lambda v: made.retrieve("Where?", v), *budgets, allowed="a whole number of tokens")
    for call in (made.save, secateur.Memory.load):
        refused(call, *WRONG, [], "", "a\0b", allowed="the path of a")
    (tmp_path / "file").write_text("x")
    with pytest.raises(secateur.SecateurError, match="Fix: "):
        made.save(tmp_path / "file" / "memory")
    assert made.index(["Leeds has a mill."]) == 2


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        *(
            (lambda _, text=text: text, r"memory\.json.*Fix: ")
            for text in ("[]", "{}", '{"embedder": "a", "system": "title_zsum", "foo": 1}', "{")
        ),
        (lambda text: re.sub('"embedder": ".*?"', '"embedder": "another"', text), "other weights"),
        (lambda text: text.replace('"title_zsum"', '"graph_zsum"'), "was another system"),
    ],
)
def test_a_saved_memory_with_other_settings_is_refused(smoke, tmp_path, kept, said):
    lexical().save(tmp_path / "kept")
    path = tmp_path / "kept/memory.json"
    path.write_text(kept(path.read_text()))
    with pytest.raises(secateur.SecateurError, match=said):
        secateur.Memory.load(tmp_path / "kept")


def test_wrong_arguments_of_the_functions_are_refused_at_the_entry(smoke):
    score, evaluate = secateur.score, secateur.evaluate
    refused(lambda v: score(v, "a", ["x"]), *WRONG, [], "", SURROGATE, allowed="a text with words")
    refused(lambda v: score("Who?", v, ["x"]), *WRONG[1:], [], SURROGATE, allowed="a text, or None")
    refused(lambda v: score("Who?", "a", v), None, 3, "x", b"x", {"a": 1}, [], [3], allowed="a (list|text)")
    refused(lambda v: score("Who?", "a", ["x"], lm=v), *WRONG, [], "", allowed="an option of conf/lm")
    for place in range(3):
        call = partial(lambda place, v: evaluate(*OK[:place], v, *OK[place + 1 :]), place)
        refused(call, None, 3, "x", [], allowed="a mapping whose")
    refused(lambda v: evaluate({"q": v}, *OK[1:]), *WRONG, ["Leeds"], SURROGATE, allowed="a retrieved context, a text")
    refused(lambda v: evaluate(OK[0], {"q": v}, OK[2]), 3, ["x"], SURROGATE, allowed="a text")
    refused(lambda v: evaluate(*OK[:2], {"q": v}), 3, "Leeds", b"x", [3], {"a": 1}, allowed="a (list|text)")
    refused(lambda v: evaluate(*OK, metrics=v), None, 3, "tokens", [], allowed="(a list of metrics|one metric)")
    refused(lambda v: evaluate(*OK, reader=v), *WRONG, "", allowed="an option of conf/lm")


def test_tables_that_evaluate_did_not_write_are_refused(smoke):
    table = secateur.evaluate(*OK)
    other = pl.DataFrame({"a": [1]}), table.with_columns(value=pl.lit("x")), pl.concat([table, table])
    refused(lambda v: secateur.compare(v, table), *WRONG, [], *other, allowed=r"a table of evaluate\(\)")
    refused(lambda v: secateur.compare(table, v), *WRONG, [], *other, allowed=r"a table of evaluate\(\)")
    refused(lambda v: secateur.compare(table, table, v), 3, [], "x", {"q": 3}, allowed="a mapping of question id")
    with pytest.raises(secateur.SecateurError, match=r"clusters: no unit for 1 questions \(q\)\. Fix: a unit for each"):
        secateur.compare(table, table, {"Q": "article"})


def test_contexts_that_name_no_passage_or_other_ids_than_the_evidence_are_told(smoke, caplog):
    caplog.set_level(logging.WARNING, "secateur")
    asked = dict.fromkeys(("q1", "q2"), "Where does the mill stand?")
    gold = {q: {"mill:0": "The Finch mill stands in Leeds."} for q in asked}
    secateur.evaluate({"q1": [("mill:0", "The Finch mill stands in Leeds.")], "q2": "Nothing found."}, asked, gold)
    assert caplog.messages == []  # what stands in a context is held, under whatever name
    secateur.evaluate({"q1": [("mill", "The Finch mill stands in Leeds.")]}, {"q1": asked["q1"]}, {"q1": gold["q1"]})
    (told,) = caplog.messages
    assert "'mill'" in told and "'mill:0'" in told
