"""The table of statistics: declared, resumable, bounded; bad input is refused before a model runs."""

import logging
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.ecs.columns import PROBES
from secateur.ecs.reading import engine, sweep
from secateur.ecs.reading.sweep import BASE, CONTEXT, estimate, statistics

ASKED = [("q1", "g", "What had she swallowed?", "half a ball"), ("q2", "g", "Where is Ghent?", None)]
ASKED += [("q3", "g", "Who left his flat?", "Jonas"), ("r1", "h", "What?", "June 1994")]
QUESTIONS = pl.DataFrame(ASKED, ["question_id", "group_id", "text", "answer"], orient="row")
SHOWN = [("g1", "g", "half a tennis ball", "Mira", "May"), ("g2", "g", "Jonas left .", "Jonas", None)]
SHOWN += [("g3", "g", " ", "Mira", None), ("g4", "g", "Ghent " * 60, None, None)]
SHOWN += [("g5", "g", "She treated a spaniel", None, "May"), ("h1", "h", "June", None, None)]
PASSAGES = pl.DataFrame(SHOWN, ["passage_id", "group_id", "text", "speaker", "date"], orient="row")


def table(lm, cfg, **more) -> pl.DataFrame:
    return pl.concat(statistics(lm, QUESTIONS, PASSAGES, cfg, **more))


def test_each_question_gets_a_base_row_and_one_for_each_passage_of_its_group(tiny_lm, ecs):
    found = table(tiny_lm(), ecs())
    check(TABLES["statistics"], found, "here", "none")
    assert found.filter(pl.col("passage_id").is_null())["question_id"].to_list() == ["q1", "q2", "q3", "r1"]
    counts = dict(found.drop_nulls("passage_id").group_by("question_id").len().iter_rows())
    assert counts == {"q1": 5, "q2": 5, "q3": 5, "r1": 1}


def test_a_question_without_answer_gets_what_needs_none(tiny_lm, ecs):
    rows = table(tiny_lm(), ecs()).filter(question_id="q2").drop_nulls("passage_id")
    assert rows.select("answer_tokens", "answer_logprob", "answer_first", "kl_path").null_count().row(0) == (5,) * 4
    assert rows.select("kl", "js", "kl_tail", "kl_paper", "entropy", "question_logprob").null_count().row(0) == (0,) * 6


def test_a_pool_limits_the_pairs(tiny_lm, ecs):
    pool = pl.DataFrame({"question_id": ["q1", "q1", "q2", "q3", "r1"], "passage_id": ["g2", "g5", "g2", "g1", "h1"]})
    found = table(tiny_lm(), ecs(passages=2), pool=pool).drop_nulls("passage_id")
    assert set(found.select("question_id", "passage_id").iter_rows()) == set(pool.iter_rows())


def test_a_candidate_longer_than_the_window_is_cut_and_counted(tiny_lm, ecs):
    rows = table(tiny_lm(window=40), ecs()).filter(question_id="q1", passage_id="g4")
    assert rows["cut"].item() > 0
    assert rows["prompt_tokens"].item() + rows["answer_tokens"].item() - 1 == 40
    assert rows["tokens"].item() > 40  # of the whole text


@pytest.mark.parametrize("layout", ["passage_first", "question_first"])
def test_a_killed_sweep_resumes_with_the_block_it_was_in(tiny_lm, ecs, tmp_path, layout):
    cfg, lm = ecs(passages=2, questions=2, layout=layout), tiny_lm()
    whole = table(lm, cfg)
    started = statistics(lm, QUESTIONS, PASSAGES, cfg, cache=tmp_path)
    done = [next(started) for _ in range(3)]
    started.close()
    second, read = tiny_lm(), []
    inner, second._forward = second._forward, lambda *args: read.append(args) or inner(*args)
    pieces = statistics(second, QUESTIONS, PASSAGES, cfg, cache=tmp_path)
    assert [next(pieces).equals(d) for d in done] == [True] * 3
    assert read == []
    rest = pl.concat([*done, *pieces])
    assert rest.equals(whole) or np.allclose(rest["kl"].fill_null(0), whole["kl"].fill_null(0), atol=1e-5)
    assert read
    read.clear()
    assert table(second, cfg, cache=tmp_path).equals(rest)
    assert read == []


def test_the_cache_tells_models_windows_packs_and_settings_apart(tiny_lm, ecs, tmp_path):
    packed = tiny_lm(pack=32)  # it moves the last bits
    models = [tiny_lm(), tiny_lm(), tiny_lm(bos=True), tiny_lm(window=128), packed, tiny_lm("mistral")]
    settings = [(lm, ecs()) for lm in models] + [(tiny_lm(), ecs(top_k=5)), (tiny_lm(), ecs(seed=9, draws=3))]
    counts = []
    for lm, cfg in settings:
        table(lm, cfg, cache=tmp_path)
        counts.append(len(list(tmp_path.rglob("*.json"))))
    assert counts == [counts[0] * n for n in (1, 1, 2, 3, 4, 5, 6, 6)]


def test_the_cost_is_said_before_and_close_to_what_is_read(tiny_lm, ecs, caplog):
    lm, read = tiny_lm(), []
    inner, lm._forward = lm._forward, lambda s, p, r: read.append(sum(map(len, s))) or inner(s, p, r)
    with caplog.at_level(logging.INFO):
        table(lm, ecs(), log=logging.getLogger("said"))
    pairs, about = estimate(lm, QUESTIONS, PASSAGES, None, ecs())
    assert f"{pairs} pairs of question and candidate, about {about} tokens" in caplog.messages[0]
    assert "CPU seconds a pair" in caplog.messages[1]
    assert pairs == 16
    assert 0.7 < about / sum(read) < 1.3


@pytest.mark.parametrize("probes", [PROBES, ("judge_factual",)])
def test_probes_fill_their_columns_and_no_others(tiny_lm, ecs, probes, tmp_path):
    found = table(tiny_lm(), ecs(), probes=probes, cache=tmp_path)
    check(TABLES["statistics"], found, "here", "none")
    rows = found.drop_nulls("passage_id")
    filled = {c for c in PROBES if rows[c].null_count() < rows.height}
    assert filled == set(probes)
    assert rows.filter(question_id="q2")["judge_helpful_answer"].null_count() == 5


def test_probed_rows_get_what_a_sweep_that_probes_all_gives_them_and_others_nothing(tiny_lm, ecs):
    cfg, keys = ecs(passages=2), ["question_id", "passage_id"]
    pool = QUESTIONS.join(PASSAGES, on="group_id").select(keys)
    wanted = pl.concat_str(keys).is_in(["q1g5", "q3g2", "q3g3", "q3g4", "q3g5"])
    whole, part = (table(tiny_lm(), cfg, pool=p, probes=PROBES) for p in (pool, pool.with_columns(probed=wanted)))
    assert part.select(keys).equals(whole.select(keys))
    np.testing.assert_allclose(part["kl"].drop_nulls(), whole["kl"].drop_nulls(), atol=1e-5)
    both = part.drop_nulls("passage_id").join(whole, on=keys)
    probed, others = both.filter(wanted), both.filter(~wanted)
    assert (probed.height, others.height) == (5, 11)
    for name in PROBES:
        assert others[name].null_count() == others.height
        assert probed[name].null_count() == 0
        np.testing.assert_allclose(probed[name], probed[f"{name}_right"], atol=1e-4)


def test_what_is_held_at_once_changes_nothing_and_what_questions_share_is_read_once(tiny_lm, ecs, monkeypatch):
    found, paths = [], []
    generate = sweep.generate
    monkeypatch.setattr(sweep, "generate", lambda *given: paths.append(len(given[1])) or generate(*given))
    for held in (64, 2):
        monkeypatch.setattr(sweep, "BATCH", held)
        found.append(table(tiny_lm(), ecs(), probes=PROBES))
    for name in (CONTEXT, BASE):
        np.testing.assert_allclose(found[0][name].drop_nulls(), found[1][name].drop_nulls(), atol=1e-4)
    assert paths == [3, 1] * 2  # of each group's questions, without a candidate


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"questions": QUESTIONS.with_columns(text=pl.lit(" "))}, "question q1: its text is empty"),
        ({"passages": PASSAGES.filter(group_id="g")}, r"1 questions have no candidate \(e.g. r1\)"),
        ({"pool": pl.DataFrame({"question_id": ["q1"], "passage_id": ["g1"]})}, "3 questions have no candidate"),
        ({"pool": pl.DataFrame({"question_id": ["q1"], "passage_id": ["x"]})}, r"1 rows name no passage \(e.g. x\)"),
        ({"probes": ["judge"]}, "probe 'judge' is not known; allowed: trajectory_ctx"),
    ],
)
def test_bad_input_is_refused_before_anything_is_read(tiny_lm, ecs, change, message):
    lm = tiny_lm()
    lm._forward = None
    given = {"questions": QUESTIONS, "passages": PASSAGES} | change
    with pytest.raises(SecateurError, match=message):
        next(statistics(lm, given.pop("questions"), given.pop("passages"), ecs(), **given))


def test_a_model_that_gives_no_numbers_is_refused(tiny_lm, ecs):
    lm = tiny_lm()
    lm.logits = lambda sequences, prefixes, rows: torch.full((len(rows), 400), float("nan"))
    with pytest.raises(SecateurError, match=r"tiny llama .* not finite\. Fix: lm\.dtype"):
        pl.concat(statistics(lm, QUESTIONS.filter(question_id="r1"), PASSAGES, ecs()))


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_values_come_in_order_though_a_gpu_sends_them_one_pass_late(device):
    class Lm:
        model = SimpleNamespace(device=SimpleNamespace(type=device), dtype=torch.float32)
        name = "tiny"

        def sent(self, values):
            return values.numpy

    results = [(n, torch.zeros(2), torch.tensor([float(n), 7.0])) for n in range(3)]
    found = [(label, values.tolist()) for label, values in engine.received(Lm(), iter(results))]
    assert found == [(n, [n, 7.0]) for n in range(3)]
    with pytest.raises(SecateurError, match="not finite"):
        list(engine.received(Lm(), iter([(0, torch.tensor([float("nan")]), torch.tensor([1.0]))])))
