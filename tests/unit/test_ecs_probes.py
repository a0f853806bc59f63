"""Passes of their own, trajectories and judges, against reading one by one."""

from dataclasses import replace

import numpy as np
import pytest

from secateur.core.errors import SecateurError
from secateur.ecs.reading.decode import generate, greedily, sampling
from secateur.ecs.reading.engine import passes_after, targets
from secateur.ecs.reading.judge import ACCURATE, HELPS, JUDGES, _prompt, judge, prompt_form, verdict_tokens
from secateur.ecs.reading.pairs import encode, total_logprobs
from secateur.ecs.reading.template import Passage, Question, prompt
from secateur.ecs.reading.trajectory import along_base, along_context, prefilled_prompts

ASKED = [Question("q1", "What had she swallowed?", "half a ball"), Question("q2", "Who left?", None)]
SHOWN = [Passage("p1", "half a tennis ball", "Mira", "May"), Passage("p2", ""), Passage("p3", "Jonas left . " * 3)]
PAIRS = [(q, p) for p in range(3) for q in range(2)]
END = 1


def ids(lm, text):
    return [*lm.encoder.prefix, *lm.tokenizer(text, add_special_tokens=False).input_ids]


def greedy(lm, naive, context, steps):
    """The greedy path, each step by reading all anew."""
    path = []
    while len(path) < steps and END not in path:
        path.append(int(naive(lm, context + path)[-1].argmax()))
    return path


def kl_along(lm, naive, ours, base, path):
    p, q = (naive(lm, c + path[:-1])[len(c) - 1 :] for c in (ours, base))
    return (np.exp(p) * (p - q)).sum()


def contexts(lm, q, p):
    return [ids(lm, prompt(ASKED[q], shown, "passage_first")[0]) for shown in ([SHOWN[p]], [])]


def first_tokens(lm, word: str) -> list[int]:
    """The first token of a word in each spelling, with and without a space before it."""
    spelt = [space + one for one in (word, word.capitalize(), word.upper()) for space in ("", " ")]
    return sorted({lm.tokenizer(one, add_special_tokens=False).input_ids[0] for one in spelt})


@pytest.mark.parametrize("bos", [False, True])
def test_a_greedy_path_is_the_one_of_reading_all_anew(tiny_lm, naive, bos):
    lm = tiny_lm(bos=bos, pack=32)
    texts = ["Question: What", "Mira", "Jonas left his flat by June 1994 . " * 2, "Question: What"]
    found = generate(lm, [ids(lm, t) for t in texts], 6, greedily)
    assert [path.tokens for path in found] == [greedy(lm, naive, ids(lm, t), 6) for t in texts]
    (sampled,) = generate(lm, [ids(lm, texts[0])], 6, sampling(1e-3, [3]))  # at a low temperature it is that one too
    assert sampled.tokens == found[0].tokens


def test_what_the_window_cut_elsewhere_is_read_by_itself(tiny_lm, ecs):
    """Under a short window an answer pushes the context's first tokens out: the keys and values held of it do not apply."""
    cfg, answered = ecs(), Question("q1", ASKED[0].text, "half a tennis ball by June 1994")
    pairs, shown, found = [(0, p) for p in range(3)], [[passage] for passage in SHOWN], []
    for window in (24, 256):
        lm = tiny_lm(window=window)
        prompts = prefilled_prompts(lm, cfg, ASKED, SHOWN, pairs)
        sequences = [replace(one, asked=None) for one in encode(lm, cfg, [answered] * 3, shown)]
        sums = {}
        for predictions in passes_after(lm, sequences, prompts.prefilled):
            rows, tokens, counts = targets(sequences, predictions)
            logprobs = (predictions.logits[rows, tokens] - predictions.norms[rows]).split(counts)
            sums |= {n: float(each.sum()) for n, each in zip(predictions.places, logprobs, strict=True)}
        each = [sums[n] for n in range(3)]
        assert each == pytest.approx(total_logprobs(lm, cfg, [answered] * 3, shown, range(3)), abs=1e-4)
        found.append(each)
    assert found[0] != found[1]


@pytest.mark.parametrize("pack", [16, 200])
def test_trajectories_sum_the_divergence_along_the_path_of_either_side(tiny_lm, ecs, naive, pack):
    lm, cfg = tiny_lm(pack=pack), ecs(questions=2)
    alone = encode(lm, cfg, ASKED, [()] * len(ASKED), answered=False)
    prompts = prefilled_prompts(lm, cfg, ASKED, SHOWN, PAIRS)
    paths = generate(lm, [one.ids for one in alone], cfg.horizon, greedily)
    by_base, by_context = along_base(lm, cfg, paths, prompts), along_context(lm, cfg, alone, prompts)
    for (q, p), base, context in zip(PAIRS, by_base, by_context, strict=True):
        ours, alone = contexts(lm, q, p)
        assert base == pytest.approx(kl_along(lm, naive, ours, alone, greedy(lm, naive, alone, 8)), abs=1e-4)
        assert context == pytest.approx(kl_along(lm, naive, ours, alone, greedy(lm, naive, ours, 8)), abs=1e-4)
        assert p != 1 or base == pytest.approx(0, abs=1e-4)


def test_the_judges_sentences_are_the_papers():
    asked = "does this passage contain accurate information for answering this question?"
    assert HELPS == "Does this passage help answer the question correctly?"
    assert f"Based on your knowledge, {asked}" == ACCURATE


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_is_the_share_of_yes_after_its_prompt(tiny_lm, naive, name, chat):
    lm = tiny_lm(chat=chat, bos=chat)
    found = [row[name] for row in judge(lm, list(JUDGES), ASKED, SHOWN, PAIRS)]
    assert found == pytest.approx([row[name] for row in judge(lm, [name], ASKED, SHOWN, PAIRS)], abs=1e-4)
    sentence, answered = JUDGES[name]
    for (q, p), value in zip(PAIRS, found, strict=True):
        if answered and ASKED[q].answer is None:
            assert value is None
            continue
        line = ["Mira (May): half a tennis ball", "", SHOWN[2].text.strip()][p]
        text = f"Passage: {line}\nQuestion: {ASKED[q].text}\n"
        text += f"Correct answer: {ASKED[q].answer}\n" * answered + f"\n{sentence} Answer yes or no."
        text = f"<|user|>{text}\n<|assistant|>\n" if chat else f"{text}\nAnswer:"
        said = np.exp(naive(lm, ids(lm, text))[-1])
        yes, no = (said[first_tokens(lm, word)].sum() for word in ("yes", "no"))
        assert value == pytest.approx(yes / (yes + no), abs=1e-4)


THOUGHT = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"


@pytest.mark.parametrize("end", ["<think>\n", THOUGHT])
def test_a_judge_that_thinks_is_asked_for_its_verdict_alone(tiny_lm, end):
    lm = tiny_lm(chat=True)
    assert prompt_form(lm) == ()
    lm.tokenizer.chat_template = "{{ messages[0].content }}" + end
    assert prompt_form(lm) == ("ended",)
    (text,) = {_prompt(lm, ASKED[0], SHOWN[0], HELPS, False)}
    assert text.endswith("Answer yes or no.<think>\n\n</think>\n\n")


def test_a_tokenizer_that_cannot_tell_yes_from_no_is_refused(tiny_lm):
    from tokenizers import Tokenizer, models, pre_tokenizers

    lm = tiny_lm()
    blind = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    blind.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    lm.tokenizer._tokenizer = blind
    with pytest.raises(SecateurError, match="does not tell yes from no"):
        verdict_tokens(lm)
