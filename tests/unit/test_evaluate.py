"""`secateur evaluate` and `check`: what a folder holds, and the options that are written for it."""

import gzip
import json
import logging
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripts import prepare_corpus
from tests.support.project import share_options

from secateur.commands import evaluate, starting
from secateur.config.compose import option
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.planning.plan import variants
from secateur.stage.contract import Context

ROOT = Path(__file__).parents[2]
RANKER = "from secateur.config.plugins import NoSettings as Settings\n\n\ndef score(settings, group, questions, seed):\n    ...\n"
PASSAGES = [{"id": f"{doc}:{n}", "doc": doc, "text": f"Ann {n} bought {doc}."} for doc in "abc" for n in range(4)]
CONTEXT = {"question_id": "q0", "text": "Ann."}
QUESTIONS = [{"id": f"q{n}", "question": "Who bought it?", "answer": "Ann", "evidence": [f"a:{n}"]} for n in range(4)]


@pytest.fixture(autouse=True)
def clone(tmp_path, monkeypatch):
    """A clone's options, as the working folder."""
    root = tmp_path / "clone"
    shutil.copytree(ROOT / "conf", root / "conf")
    share_options(root)
    (root / "Snakefile").touch()
    monkeypatch.chdir(root)
    monkeypatch.syspath_prepend(root)
    return root


def lines(path: Path, rows: list[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def folder(path: Path, passages=PASSAGES, questions=QUESTIONS) -> Path:
    path.mkdir()
    lines(path / "passages.jsonl", passages)
    lines(path / "questions.jsonl", questions)
    return path


def texts_in(path: Path, quotations: list[str], **files: str) -> Path:
    """A folder of texts, with a question for each quotation."""
    path.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (path / f"{name}.txt").write_bytes(text.encode())
    asked = [{"id": f"q{n}", "question": "Who?", "evidence_text": [quoted]} for n, quoted in enumerate(quotations)]
    lines(path / "questions.jsonl", asked)
    return path


@pytest.fixture
def check(capsys):
    """What `secateur check` says of a folder."""

    def said(path: Path) -> str:
        capsys.readouterr()
        evaluate.check(path)
        return capsys.readouterr().out

    return said


@pytest.fixture
def refused(clone):
    """That an experiment is refused, with what is said, and nothing written."""

    def refuse(said: list[str], *args, **kwargs) -> None:
        with pytest.raises(SecateurError) as error:
            evaluate.experiment_of(*args, **kwargs)
        assert [text for text in said if text not in str(error.value)] == []
        assert written(clone) == set()

    return refuse


def option_files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for place in ("conf", evaluate.RANKERS) for path in (root / place).rglob("*")}


def written(root: Path) -> set[str]:
    """The option files and rankers that git does not know."""
    return option_files(root) - option_files(ROOT)


def test_a_folder_with_a_ranker_a_run_and_contexts_is_an_experiment_with_systems_of_those_names(clone, tmp_path):
    own = folder(tmp_path / "My notes, #x's")
    (tmp_path / "shortest.py").write_text(RANKER)
    (tmp_path / "x.run").write_text("q0 Q0 a:0 1 1.0 x\n")
    lines(tmp_path / "hers.jsonl", [{"question_id": "q0", "text": "Ann 0 bought a.", "passages": ["a:0"]}])
    given = {"ranker": [str(tmp_path / "shortest.py")]}
    given |= {"run": [f"old={tmp_path}/x.run"], "contexts": [f"{tmp_path}/hers.jsonl"]}
    name = evaluate.experiment_of(own, None, given)
    assert name.startswith("my_notes_x_")
    assert '"kind": "my.shortest"' in Path("conf/rankers/shortest.yaml").read_text()
    found = {v.system: v for v in variants(Path("conf"), name)}
    assert set(found) == {*option(Path("conf"), "experiment", "custom").systems, "shortest", "old", "hers"}
    assert {system for system, v in found.items() if v.yours} == {"shortest", "old", "hers"}
    assert {(v.order, v.corpus) for v in found.values()} == {("blind", name)}  # contexts made elsewhere too
    assert option(Path("conf"), "dataset", name).folder == str(own)
    assert (clone / evaluate.RANKERS / "shortest.py").resolve() == tmp_path / "shortest.py"
    options = [clone / file for file in written(clone) if not file.endswith("shortest.py")]
    before = [file.stat().st_mtime_ns for file in options]
    assert evaluate.experiment_of(own, None, given) == name
    assert [file.stat().st_mtime_ns for file in options] == before


def test_contexts_that_do_not_fit_the_folder_are_refused_before_anything_runs(refused, tmp_path):
    lines(tmp_path / "hers.jsonl", [{"question_id": "q9", "text": "Ann."}, CONTEXT | {"passages": ["z:0"]}])
    said = ["line 1: unknown question 'q9'", "line 2: passage 'z:0' does not resolve"]
    refused(said, folder(tmp_path / "own"), None, {"contexts": [f"{tmp_path}/hers.jsonl"]})


def test_two_folders_of_one_name_have_results_of_their_own(tmp_path):
    (tmp_path / "other").mkdir()
    first, second = (evaluate.experiment_of(folder(path / "notes")) for path in (tmp_path, tmp_path / "other"))
    assert first != second


@pytest.mark.parametrize("relative", [True, False])
def test_texts_are_documents_whose_questions_may_quote_in_a_folder_named_from_here_or_through_a_link(
    tmp_path, check, relative
):
    own = texts_in(tmp_path / "clone/notes", ["The mill stands in Leeds."])
    (own / "a.md").write_text("Alder Ltd bought the Finch mill. It rained.")
    texts_in(own / "sub", [], B="The mill stands in Leeds.")
    texts_in(own / ".ipynb_checkpoints", [], a="The mill stands in Leeds.")  # hidden files are none
    (tmp_path / "link").symlink_to(own)
    named = Path("notes") if relative else tmp_path / "link"
    said = check(named)
    assert "texts" in said.splitlines()[0]
    assert "3 in 2 documents" in said
    assert "1: 1 with evidence, 0 with an answer" in said
    assert option(Path("conf"), "corpus", evaluate.experiment_of(named)).format == {"kind": "texts", "root": str(own)}


def test_questions_with_evidence_decide_whether_there_is_enough_for_a_verdict(tmp_path, check):
    asked = [{"id": f"x{n}", "question": "Who?", "answer": "Ann"} for n in range(40)]
    own = folder(tmp_path / "own", questions=[*QUESTIONS, *asked])
    (own / "more.md").write_text("It rained.")
    said = check(own)
    assert "about 19 more questions with evidence are needed for a verdict" in said  # the four are one, asked again
    assert "; 3 questions repeat another" in said
    assert "not read   more.md" in said


def test_a_gzipped_file_beside_plain_ones_is_read_and_a_second_copy_refused(tmp_path, check):
    own = tmp_path / "beir"
    (own / "qrels").mkdir(parents=True)
    lines(own / "corpus.jsonl", [{"_id": "p", "title": "", "text": "The mill stands in Leeds."}])
    lines(own / "queries.jsonl", [{"_id": f"q{n}", "text": "Where?"} for n in range(3)])
    head = "query-id\tcorpus-id\tscore\n"
    (own / "qrels/test.tsv").write_text(f"{head}q0\tp\t1\n")
    (own / "qrels/train.tsv.gz").write_bytes(gzip.compress(f"{head}q1\tp\t1\nq2\tp\t1\n".encode()))
    assert "3: 3 with evidence" in check(own)
    (own / "corpus.jsonl.gz").write_bytes(b"")
    with pytest.raises(SecateurError, match=r"corpus.jsonl.gz: beside the same file without .gz. Fix: remove one"):
        evaluate.check(own)


def test_line_breaks_inside_sentences_are_told(tmp_path, check):
    broken = "Alder Ltd bought the mill in\r\nthe spring of that\r\nyear. It rained.\r\n"
    own = texts_in(tmp_path / "texts", ["It rained."], a=broken, b="# Title\nThe sun shone\n- one\n- two\n")
    assert "25% of the passages end inside a sentence, at a line break. Fix" in check(own)


def test_pieces_of_sentences_quotations_of_no_passage_and_documents_in_another_language_are_told(tmp_path, check):
    english = "The mill\nDr. Helen Marsh bought the mill and the town and the river.\n" * 20
    german = "Die Mühle steht am Fluss und gehört der Stadt seit vielen Jahren. " * 20
    held = "Helen Marsh and the town."
    quotations = [*(f"Dr. Helen Marsh number {n}." for n in range(7)), held]
    said = check(texts_in(tmp_path / "texts", quotations, a=english, b=german, c=held))
    assert "20 passages have fewer than 3 words, such as 'The mill': full stops and line breaks end a passage" in said
    assert "q0: 'Dr. Helen Marsh number 0.'" in said
    assert "q4: " in said
    assert "q5: " not in said  # five are named
    assert "1 of 3 documents seem not to be" in said


def test_systems_of_yours_that_an_override_leaves_out_are_named(tmp_path, capsys):
    lines(tmp_path / "mine.jsonl", [CONTEXT])
    given = {"contexts": [f"{tmp_path}/mine.jsonl"]}
    evaluate.experiment_of(folder(tmp_path / "own"), given=given, overrides=("experiment.systems=[bm25]",))
    assert "left out: mine; experiment.systems is bm25" in capsys.readouterr().out


@pytest.mark.parametrize("evidence", [True, False])
def test_answers_are_measured_by_default_at_the_tokens_that_rows_send_and_a_switch_leaves_them_out(
    tmp_path, capsys, evidence
):
    bare = [{key: row[key] for key in ("id", "question", "answer")} for row in QUESTIONS]
    name = evaluate.experiment_of(folder(tmp_path / "own", questions=QUESTIONS if evidence else bare))
    said = capsys.readouterr().out
    assert "answer gain of 4 questions" in said
    spec = option(Path("conf"), "dataset", name)
    assert (spec.gain, spec.gain_at) == (40, (512,))
    assert option(Path("conf"), "experiment", name).gains
    assert all(v.gained for v in variants(Path("conf"), name))
    if evidence:  # else nothing would be left to measure
        assert "which a language model reads. Without it: --set experiment.gains=false" in said
        assert not any(v.gained for v in variants(Path("conf"), name, ("experiment.gains=false",)))


@pytest.mark.parametrize(("switch", "key"), [("gains", "gain"), ("answers", "answered")])
def test_a_switch_that_would_measure_nothing_is_refused_with_the_key_that_it_needs(tmp_path, switch, key):
    bare = [{name: row[name] for name in ("id", "question", "evidence")} for row in QUESTIONS]
    name = evaluate.experiment_of(folder(tmp_path / "bare", questions=bare))
    with pytest.raises(ConfigError, match=rf"experiment\.{switch} measures nothing.*Fix: dataset\.{key}=40"):
        variants(Path("conf"), name, (f"experiment.{switch}=true",))
    assert variants(Path("conf"), name, (f"experiment.{switch}=true", f"dataset.{key}=40"))


def test_a_file_of_an_earlier_call_is_told_from_anothers(tmp_path):
    own = folder(tmp_path / "own")
    for place in (tmp_path, own):
        lines(place / "mine.jsonl", [CONTEXT])
    evaluate.experiment_of(own, given={"contexts": [f"{tmp_path}/mine.jsonl"]})
    with pytest.raises(SecateurError, match=r"mine.yaml exists: an earlier call wrote it for another file.*or remove"):
        evaluate.experiment_of(own, given={"contexts": [f"{own}/mine.jsonl"]})


@pytest.mark.parametrize(
    ("kind", "text"), [("contexts", json.dumps(CONTEXT)), ("run", "q0 Q0 p0 1 0.5 x\n"), ("ranker", RANKER)]
)
def test_files_of_one_name_for_two_folders_are_two_systems(tmp_path, kind, text):
    folders = {folder(tmp_path / name): system for name, system in (("one", "mine"), ("two", "mine_two"))}
    for own, expected in [*folders.items()] * 2:  # again: the same names
        (own / "mine.py").write_text(text)
        experiment = evaluate.experiment_of(own, given={kind: [f"{own}/mine.py"]})
        assert option(Path("conf"), "experiment", experiment).systems[-1] == expected
    if kind == "ranker":
        assert Path("my/mine_two.py").resolve() == own / "mine.py"


def test_passages_that_all_have_a_speaker_are_dialogues(tmp_path):
    spoken = [row | {"speaker": "Ann"} for row in PASSAGES]
    name = evaluate.experiment_of(folder(tmp_path / "talk", spoken))
    assert option(Path("conf"), "dataset", name).kind == "dialogue"
    assert "ecs" in option(Path("conf"), "experiment", name).systems
    some = evaluate.experiment_of(folder(tmp_path / "some", [*spoken[1:], PASSAGES[0]]))
    assert option(Path("conf"), "dataset", some).kind == "documents"


def test_a_folder_that_the_extractor_cannot_read_is_compared_without_graphs_and_that_is_said(tmp_path, capsys, check):
    own = folder(tmp_path / "russian", [row | {"text": "Анна купила завод."} for row in PASSAGES])
    assert "left out   graph_zsum, beam, unless" in check(own)
    name = evaluate.experiment_of(own)
    expected = {*option(Path("conf"), "experiment", "custom").systems} - {"graph_zsum", "beam"}
    assert {v.system for v in variants(Path("conf"), name)} == expected
    assert "left out: graph_zsum, beam; extractor openie parses English" in capsys.readouterr().out
    assert evaluate.experiment_of(own, overrides=("system.extractor=llm",)) == name
    assert '"graph_zsum", "beam"]' in Path(f"conf/experiment/{name}.yaml").read_text()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda own: shutil.rmtree(own), ["no such folder", "passages.jsonl", ".txt, .md"]),
        (lambda own: (own / "questions.jsonl").unlink(), ["questions.jsonl: no such file", "secateur questions"]),
        (lambda own: (own / "passages.jsonl").unlink(), ["holds questions.jsonl", "Fix"]),
        (lambda own: lines(own / "questions.jsonl", [{"id": "q", "question": "Who?"}]), ["nothing can be measured"]),
    ],
)
def test_a_folder_that_cannot_be_measured_is_refused_and_nothing_is_written(refused, tmp_path, change, said):
    own = folder(tmp_path / "own")
    change(own)
    refused(said, own)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("my notes/x", {}, ["letters, digits, _ and -", "--name my_notes_x"]),
        ("locomo", {}, ["conf/dataset/locomo.yaml exists", "--name OTHER"]),
        ("locomo_f20", {}, ["conf/dataset/locomo.yaml: locomo_f20 exists", "--name OTHER"]),
        (None, {"ranker": ["nowhere.py"]}, ["--ranker nowhere.py: no such file"]),
        (None, {"contexts": ["bm25={here}"]}, ["conf/system/bm25.yaml exists", "NAME=FILE"]),
        (None, {"contexts": ["lightrag={here}"]}, ["conf/peer/lightrag.yaml: lightrag exists", "NAME=FILE"]),
        (None, {"run": ["random={here}"]}, ["'random' is a row of Secateur", "--run my_random="]),
        (None, {"contexts": ["256={here}"]}, ["'256' is a row of Secateur", "Fix: --contexts my_256="]),
        (None, {"run": ["a={here}"], "contexts": ["a={here}"]}, ["both named a", "--contexts OTHER="]),
        (None, {"ranker": ["my-ranker={here}"]}, ["'my-ranker' is no name", "my_ranker="]),
        (None, {"ranker": ["mine={here}"]}, ["/here: line 1: '(' was never closed", "Fix: correct it"]),
    ],
)
def test_a_name_that_is_taken_or_invalid_is_refused_and_nothing_is_written(refused, tmp_path, name, given, said):
    (tmp_path / "here").write_text("(")
    files = {kind: [text.format(here=tmp_path / "here") for text in texts] for kind, texts in given.items()}
    refused(said, folder(tmp_path / "own"), name, files)


@pytest.mark.parametrize("base", ["second_look", "few"])
def test_an_experiment_with_data_of_its_own_or_that_inherits_custom_lends_its_systems(tmp_path, base):
    Path("conf/experiment/few.yaml").write_text("defaults: [custom, _self_]\nsystems: [bm25, secateur]\n")
    name = evaluate.experiment_of(folder(tmp_path / "own"), base=base)
    found, lender, custom = (option(Path("conf"), "experiment", one) for one in (name, base, "custom"))
    assert (found.systems, found.datasets, found.primary) == (lender.systems, (name,), custom.primary)
    assert {(v.system, v.dataset) for v in variants(Path("conf"), name)} == {(s, name) for s in lender.systems}


def test_a_file_that_is_no_python_is_listed_as_such(monkeypatch, tmp_path):
    rankers = tmp_path / "ranking/scorers"
    rankers.mkdir(parents=True)
    (rankers / "fine.py").write_text('"""Ranks.\n\nMore."""\n')
    (rankers / "broken.py").write_text("def score(:\n")
    monkeypatch.setattr(starting.plugins, "LIBRARY", tmp_path)
    listed = starting._plugin("ranker")()
    assert listed["fine"] == "Ranks."
    assert listed["broken"].startswith("(no Python: ")


def test_check_shows_every_warning_of_the_stage_that_prepares_the_corpus(tmp_path, check):
    text = "Die Mühle wurde im Jahr 1890 von der Familie Finch in der Stadt gebaut, die am Fluss liegt."
    turn = {"doc": "s2", "group": "g", "text": text, "speaker": "Ann", "date": "2024-03-01"}
    said = [turn | {"date": "2024-03-02"}, turn | {"doc": "s10"}, turn | {"speaker": None}, *[turn] * 17]
    questions = [{"id": "q0", "group": "g", "question": "Wer?", "evidence": ["p0", "p99"]}]
    own = folder(tmp_path / "own", [one | {"id": f"p{n}"} for n, one in enumerate(said)], questions)
    ctx = Context(logging.getLogger("test"), tmp_path, {}, "")
    corpus = SimpleNamespace(format="folder", shuffle=7, documents=None)
    inputs = SimpleNamespace(paths=lambda _: [own / "passages.jsonl"])
    prepare_corpus.run(SimpleNamespace(corpus=corpus), inputs, {}, ctx)
    shown = check(own)
    assert [warning for warning in ctx.warnings if warning not in shown] == []
    heads = ("seem not to be English", "documents_read_as_sessions", "dates go backwards", "have no `speaker`")
    assert [sum(head in warning for warning in ctx.warnings) for head in heads] == [1, 1, 1, 1]
    assert "evidence_unresolved: 1" in shown
