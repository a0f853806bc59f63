"""Questions drafted from texts: what each asks, what it rests on, and that no verdict does."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.support.answer_server import answering
from tests.support.loaded import lines
from tests.support.project import ROOT

from secateur.commands.checking import read_folder
from secateur.commands.drafting import questions
from secateur.config.compose import option
from secateur.core.errors import SecateurError
from secateur.datasets.schema import DRAFTED
from secateur.evaluation.subsets import units_of
from secateur.ranking.drafting import drafts
from secateur.ranking.names import canonical

BORN = "Ann Lee was born in Dunmarrow."
TEXTS = {
    ("film", "Harbour Lights"): [
        "Harbour Lights (1961) is a drama film directed by Ann Lee, which few people saw.",
        "It was shot in Port Ambrel in 1959.",
        "It is said that Leeds was drawn.",  # of no thing
        "Ann Lee directed it.",
        "She was shown in Ulm.",  # of whom is not said
        "Farmers crowded into Leeds.",  # no name
        "Harbour Lights was (not) shown in Ulm.",
    ],
    ("lee", "Ann Lee"): [BORN, "Tom Lee wrote novels about Dunmarrow and her."],
    ("ship", "Castrel (ship)"): ["Castrel was built at Umbershaw Yard."],
    ("place", "Castrel (village)"): ["Castrel lies near Umbershaw Yard."],
    ("notes", "Overview of the year"): ["Ann Lee was born in Dunmarrow, too.", "It was shown in Ulm."],
    ("more", "Overview of the mill"): ["It was built in Ulm.", "It was sold in Leeds."],  # a heading is no thing
}


def passages(texts=TEXTS, group: str = "all") -> pl.DataFrame:
    rows = [
        {"passage_id": f"{doc}:{n}", "doc_id": doc, "group_id": group, "position": n, "title": title, "text": text}
        for (doc, title), own in texts.items()
        for n, text in enumerate(own)
    ]
    return pl.DataFrame(rows, schema_overrides={"title": pl.String})


@pytest.fixture(scope="module")
def words():
    names = option(ROOT / "conf", "consolidation", "default")
    return frozenset(names.joins), frozenset(names.skipped)


def test_what_one_sentence_says_is_asked_for_at_both_ends_and_a_shared_name_is_described(words):
    found = {draft.text: (draft.answer, draft.evidence) for draft in drafts(passages(), 100, *words)}
    assert found == {
        "Harbour Lights is a drama film directed by what?": ("Ann Lee", ("film:0",)),
        "Harbour Lights was shot in what?": ("Port Ambrel", ("film:1",)),
        "Tom Lee wrote novels about what?": ("Dunmarrow", ("lee:1",)),
    }
    texts = {place: said for place, said in TEXTS.items() if place[0] != "notes"}  # which says the same elsewhere
    found |= {draft.text: (draft.answer, draft.evidence) for draft in drafts(passages(texts), 100, *words)}
    two = "The one that Harbour Lights is a drama film directed by was born in what?"
    assert (len(found), found[two]) == (5, ("Dunmarrow", ("film:0", "lee:0")))
    assert found["Ann Lee was born in what?"] == ("Dunmarrow", ("lee:0",))


def test_questions_with_several_answers_or_places_and_names_of_several_things_are_left_out(words):
    texts = {("a", "Ann Lee"): [BORN, "Ann Lee died in Ulm."]}
    texts |= {("b", "Bo Lee"): ["Bo Lee was born in Dunmarrow.", "Ann Lee died in Ulm."]}
    asked = {draft.text for draft in drafts(passages(texts), 100, *words)}
    assert asked == {"Ann Lee was born in what?", "Bo Lee was born in what?"}


def test_drafts_do_not_name_their_answer_and_do_not_cross_groups(words):
    table = pl.read_ndjson(ROOT / "data/toy/articles/passages.jsonl").select(
        "title",
        "text",
        passage_id="id",
        doc_id="doc",
        position=pl.col("id").str.extract(r":(\d+)$").cast(pl.Int64),
        group_id=(pl.col("doc").str.len_chars() % 2).cast(pl.String),
    )
    group = dict(table.select("passage_id", "group_id").iter_rows())
    made = drafts(table, 30, *words)
    assert len(made) == 30
    assert {len(draft.evidence) for draft in made} == {1, 2}
    for draft in made:
        assert canonical(draft.answer) not in canonical(draft.text)
        assert {group[passage] for passage in draft.evidence} == {draft.rests_on[0].group}
    assert [draft.text for draft in drafts(table.reverse(), 30, *words)] == [draft.text for draft in made]


def asked(*kinds: str | None) -> tuple[pl.DataFrame, pl.DataFrame]:
    rows = [(f"q{n}", f"What is {n}?", "all", f"d{n}", n, kind) for n, kind in enumerate(kinds)]
    names = ["question_id", "text", "group_id", "cluster_id", "position", "type"]
    questions = pl.DataFrame(rows, names, orient="row")
    return questions, questions.select("question_id", passage_id="cluster_id")


def test_drafted_questions_alone_are_one_unit_and_a_type_of_ones_own_is_not_theirs():
    drafted = units_of(*asked(*DRAFTED, *DRAFTED), 2)
    assert drafted.are_drafted
    assert drafted.table["cluster_id"].n_unique() == 1
    assert not units_of(*asked("drafted contract", None, None), 2).are_drafted
    assert units_of(*asked("drafted contract", None, None), 10).table["cluster_id"].n_unique() == 3


def texts_in(folder: Path, *texts: str) -> Path:
    rows = [{"id": f"p{n}", "doc": f"d{n}", "text": text} for n, text in enumerate(texts)]
    (folder / "passages.jsonl").write_text(lines(rows), encoding="utf-8")
    return folder


def written(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("types", "left"), [((DRAFTED[0], None, DRAFTED[1]), ["1"]), ((DRAFTED[0],) * 3, ["0", "1", "2"])]
)
def test_beside_peoples_questions_drafted_ones_are_left_out_and_counted(tmp_path, types, left):
    asks = [{"id": str(n), "question": f"Who is {n}?", "evidence": ["p0"], "type": t} for n, t in enumerate(types)]
    (tmp_path / "questions.jsonl").write_text(lines(asks), encoding="utf-8")
    own = read_folder(texts_in(tmp_path, BORN))
    assert own.questions.questions["question_id"].to_list() == left
    assert own.questions.counts.get("drafted_left_out", 0) == 3 - len(left)


@pytest.mark.parametrize("text", ["Анна Ли родилась в Москве.", "it rained and the wind blew."])
def test_what_cannot_be_drafted_is_refused_and_nothing_is_written(tmp_path, text):
    with pytest.raises(SecateurError, match="nothing is drafted"):
        questions(texts_in(tmp_path, text))
    assert [path.name for path in tmp_path.iterdir()] == ["passages.jsonl"]


def test_a_file_of_questions_is_not_written_over(tmp_path):
    questions(texts_in(tmp_path, BORN), 5)
    assert [line["question"] for line in written(tmp_path)] == ["Ann Lee was born in what?"]
    with pytest.raises(SecateurError, match="not written over"):
        questions(tmp_path)
    (tmp_path / "questions.jsonl").rename(tmp_path / "questions.jsonl.gz")
    with pytest.raises(SecateurError, match="not written over"):
        questions(tmp_path)


def test_a_model_words_drafts_anew_and_what_gives_the_answer_away_stays_as_it_was(tmp_path, monkeypatch):
    monkeypatch.setenv("SECATEUR_CACHE", str(tmp_path / "cache"))
    texts = [BORN, "Tom Lee wrote novels about Port Ambrel."]
    with answering() as server:
        for said in ("Where is Ann Lee from?", "Which novels did Tom Lee write about Port Ambrel or Dunmarrow?"):
            server.script.append({"message": {"role": "assistant", "content": said}})
        settings = [f"answer.url={server.url}", "answer.concurrency=1"]
        questions(texts_in(tmp_path, *texts), 5, reword="endpoint", settings=settings)
    first, second = written(tmp_path)
    assert len(server.asked) == 2
    assert first["question"] == "Where is Ann Lee from?"
    assert second["question"].endswith(" what?")
    assert first["type"] == second["type"] == DRAFTED[0]
    prompt = server.asked[0][1]["messages"][-1]["content"]
    assert first["answer"] in prompt and any(text in prompt for text in texts)
