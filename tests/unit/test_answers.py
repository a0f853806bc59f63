"""Answers: the prompt and its window, where an answer ends, its scores, and generation that no other prompt changes."""

from itertools import count
from types import SimpleNamespace

import pytest

from secateur.answers.ending import finished, is_over, is_refusal
from secateur.answers.generate import InProcess
from secateur.answers.prompt import compose, units_cut
from secateur.core.errors import SecateurError
from secateur.evaluation.answers import answer_scores

RULES = SimpleNamespace(stop=("\n\n", "\nQuestion:"), repeats=3, least_repeated=14)


def test_a_closed_book_differs_by_its_context_alone():
    shown, closed = compose("Be brief.", ["It was Ann."], " Who? "), compose("Be brief.", [], "Who?")
    assert shown.replace("It was Ann.\n\n", "") == closed


def test_a_question_that_fits_no_window_stops_with_its_name():
    with pytest.raises(SecateurError, match=r"question q7: .* 40 tokens without any context.*the 10 .*Fix:"):
        units_cut(2, lambda cut: 60 - 10 * cut, 10, "q7")


@pytest.mark.parametrize(
    ("text", "answer", "why"),
    [
        ("Half a tennis ball.", "Half a tennis ball.", None),
        ("\n\n Ann.", "Ann.", None),
        ("Ann.\nQuestion: And who?", "Ann.", "stop"),
        ("Ann.\n\nShe left.\nQuestion:", "Ann.", "stop"),
        ("It was Ann. It was Ann. It was Ann. It was", "It was Ann.", "repeats"),
        ("So: no, no, no, no, no, no", "So: no,", "repeats"),
        ("ha ha ha", "ha ha ha", None),
        ("It cost 1,000,000,000.", "It cost 1,000,000,000.", None),
        ("", "", None),
        (" \n ", "", None),
    ],
)
def test_an_answer_ends_where_it_is_told_to_or_begins_to_repeat_itself(text, answer, why):
    assert finished(text, RULES) == (answer, why)
    assert is_over(text, RULES) or why is None


def test_how_long_a_model_went_on_repeating_itself_does_not_matter():
    said = "The mill. " + "The river is wide. " * 9
    answers = {finished(said[:length], RULES) for length in range(70, len(said) + 1)}
    assert answers == {("The mill. The river is wide.", "repeats")}


def test_a_refusal_is_known_by_its_phrase():
    phrases = ("i don't know", "cannot be determined")
    assert is_refusal("Sorry, I don’t  know that.", phrases)
    assert is_refusal("This CANNOT be determined.", phrases)
    assert not is_refusal("It is red. Its age CANNOT be determined.", phrases)
    assert not is_refusal("I know Don.", phrases)
    assert not is_refusal("", phrases)


@pytest.mark.parametrize(
    ("score", "answer", "gold", "expected"),
    [
        ("exact_match", "The red mills", "red mill", 0),
        ("token_f1", "mill mill", "the mill", 2 / 3),
        ("token_f1", "the", "a", 1),  # nothing is left of either
        ("rouge_l", "police killed the gunman", "police kills the gunman", 1),  # subsequences of stems
        ("rouge_l", "the gunman police killed", "police kill the gunman", 0.5),
        *((score, "", "the mill", 0) for score in ("rouge_l", "token_f1", "exact_match", "typed_match")),
    ],
)
def test_scores_by_hand(score, answer, gold, expected):
    assert answer_scores(answer, gold)[score] == pytest.approx(expected)


PROMPTS = [
    compose("Answer.", units, question)
    for units in ([], ["Mira treated a spaniel in Ghent ."], ["Jonas left his flat by June 1994 .", "The Mill"] * 3)
    for question in ("What had she swallowed?", "Who left his flat?")
]


def settings(**changes) -> SimpleNamespace:
    plain = {"window": None, "max_tokens": 12, "stop": ("\n\n",), "repeats": 3, "least_repeated": 40}
    return SimpleNamespace(**plain | changes)


@pytest.fixture
def answering(tiny_lm, tmp_path):
    """A function that answers with a tiny model and a cache of its own."""
    numbers = count()

    def answer(prompts, *, kind="llama", chat=False, bos=False, cache=None, **changes):
        lm = tiny_lm(kind, chat=chat, bos=bos, window=256)
        return InProcess(lm, settings(**changes), cache or tmp_path / str(next(numbers)))(prompts)

    return answer


def alone(lm, naive, prompt: str, steps: int) -> list[int]:
    """Greedy tokens after a prompt: the whole text is read again for each."""
    ids = list(lm.encoder.encode([f"{prompt}\nAnswer:"], [""], [None], ["p"])[0].ids)
    start = len(ids)
    while len(ids) < start + steps and (len(ids) == start or ids[-1] != lm.tokenizer.eos_token_id):
        ids.append(int(naive(lm, ids)[-1].argmax()))
    return ids[start:]


@pytest.mark.parametrize("kind", ["llama", "gemma3_text", "mistral"])
def test_no_company_and_no_order_changes_an_answer(answering, tiny_lm, naive, kind):
    answers = answering(PROMPTS, kind=kind)
    for prompt, answer in zip(PROMPTS, answers, strict=True):
        tokens = alone(tiny_lm(kind, window=256), naive, prompt, 12)
        assert answer.completion_tokens == len(tokens)
        if answer.stopped in ("end", "length"):
            assert answer.text == tiny_lm(kind).tokenizer.decode(tokens, skip_special_tokens=True).strip()
    assert [answering([prompt], kind=kind)[0] for prompt in PROMPTS] == answers
    assert answering(PROMPTS[::-1], kind=kind) == answers[::-1]


@pytest.mark.parametrize("kind", ["llama", "gemma3_text", "mistral"])
def test_every_step_of_an_answer_is_its_prompts_own_to_the_bit(answering, tiny_lm, kind):
    """Ties included: the logits of each step are equal, whatever is answered beside it."""
    seen = []

    def steps(prompts) -> set[bytes]:
        seen.clear()
        answering(prompts, kind=kind)
        return {row.numpy().tobytes() for logits in seen for row in logits}

    hook = tiny_lm(kind).model.register_forward_hook(lambda module, given, out: seen.append(out.logits[:, -1]))
    together = steps(PROMPTS)
    parts = [steps(part) for part in (PROMPTS[:1], PROMPTS[1:2], PROMPTS[2:3], PROMPTS[::2], PROMPTS[3:])]
    hook.remove()
    assert all(part and part <= together for part in parts)


def test_the_chat_template_frames_the_prompt_and_bos_stands_once(tiny_lm, answering, tmp_path):
    lm = tiny_lm(chat=True, bos=True, window=256)
    ids = InProcess(lm, settings(), tmp_path)._ids("Who?")
    assert lm.tokenizer.decode(ids) == "<s><|user|>Who?\n<|assistant|>\n"
    (answer,) = answering(["Who?"], chat=True, bos=True)
    assert answer.prompt_tokens == len(ids)


def test_a_prompt_is_answered_once_under_the_same_settings_and_code(answering, tmp_path, monkeypatch):
    cache, asked = tmp_path / "kept", [*PROMPTS, PROMPTS[0]]

    def stored() -> dict:
        return {path: path.stat().st_mtime_ns for path in cache.rglob("*.json")}

    first = answering(asked, cache=cache)
    before = stored()
    assert len(before) == len(PROMPTS)
    assert answering(asked, cache=cache) == first
    assert stored() == before
    answering(PROMPTS[:1], cache=cache, max_tokens=5)
    assert len(stored()) == len(PROMPTS) + 1
    monkeypatch.setattr("secateur.answers.generate.plugin_digest", lambda module: module)
    answering(PROMPTS[:1], cache=cache)
    assert len(stored()) == len(PROMPTS) + 2


def test_an_answer_ends_at_the_longest_or_where_the_model_repeats_itself(answering):
    short, long = answering(PROMPTS, max_tokens=3), answering(PROMPTS, max_tokens=120, least_repeated=4)
    assert all(answer.completion_tokens <= 3 and answer.stopped in ("end", "length") for answer in short)
    cut = [answer for answer in long if answer.stopped == "repeats"]
    assert cut, "a random network is expected to fall into a loop"
    assert all(answer.completion_tokens < 120 for answer in cut)


@pytest.mark.parametrize(("window", "expected"), [(None, 256 - 12), (100, 100), (1000, 256 - 12)])
def test_the_window_leaves_room_for_the_answer(tiny_lm, tmp_path, window, expected):
    assert InProcess(tiny_lm(window=256), settings(window=window), tmp_path).window == expected


PLAIN = "{{ messages[0].content }}"
OPENING = PLAIN + "\n{% if enable_thinking is not defined %}<think>\n{% endif %}"
CHANNELS = ["<|channel|>", "<|message|>", "<|end|>", "<|start|>"]
CHATS = {  # template, its marks, what the model writes
    "tags": ("{# <think> #}" + PLAIN, [], "<think>\nMira?\n\nNo.</think>\n\nJonas.\n\nAnd so on"),
    "opened by the template": (OPENING, [], "Mira?\n\nNo.</think>\n\nJonas.\n\nAnd so on"),
    "special tokens": (PLAIN, ["[THINK]", "[/THINK]"], "[THINK]Mira? Who is she?\n\nNo, it is not.[/THINK]Jonas.</s>"),
    "channels": (
        PLAIN,
        CHANNELS,
        "<|channel|>analysis<|message|>Mira?\n\n<|end|><|start|>assistant<|channel|>final<|message|>Jonas.</s>",
    ),
    "none": (PLAIN, [], "Jonas.\n\nAnd so on"),
}


@pytest.fixture
def writing(tiny_lm, tmp_path, monkeypatch):
    """A function that answers with a model that writes a text."""
    import torch

    def answer(kind: str, **changes):
        template, marks, text = CHATS[kind]
        lm = tiny_lm(chat=True, window=256)
        lm.tokenizer.chat_template = template
        lm.tokenizer.add_special_tokens({"additional_special_tokens": marks})

        def generate(given, stopping_criteria, generation_config, **_):
            for token in lm.tokenizer(text, add_special_tokens=False).input_ids[: generation_config.max_new_tokens]:
                given = torch.cat([given, torch.tensor([[token]])], dim=1)
                if stopping_criteria[0](given, None).all():
                    break

        monkeypatch.setattr(lm.model, "generate", generate)
        return InProcess(lm, settings(**{"max_tokens": 120} | changes), tmp_path / "cache")

    return answer


@pytest.mark.parametrize("kind", CHATS)
def test_stop_rules_hold_after_the_thoughts_of_a_model(writing, kind):
    (answer,) = writing(kind)(["Who left his flat?"])
    assert answer.text == "Jonas."
    assert answer.stopped in ("stop", "end")


@pytest.mark.parametrize("kind", [kind for kind in CHATS if kind != "none"])
def test_a_thought_that_is_cut_is_an_empty_answer(writing, kind):
    (answer,) = writing(kind, max_tokens=9)(["Who left his flat?"])
    assert (answer.text, answer.stopped, answer.completion_tokens) == ("", "thought", 9)


def test_arguments_reach_the_chat_template_and_the_key_of_an_answer(writing, tmp_path):
    kind = "opened by the template"
    thinking, plain = writing(kind), writing(kind, template={"enable_thinking": 0})
    assert thinking._text("Who?").endswith("<think>\n")
    assert plain._text("Who?") == "Who?\n"
    for model in (thinking, plain):
        model(["Who?"])
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 2
    with pytest.raises(SecateurError, match=r"chat template reads no enable_thinkin.*Fix: "):
        writing("tags", template={"enable_thinkin": 0})(["Who?"])
