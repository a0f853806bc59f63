"""What a reply says outside its thoughts: models that reason write thoughts and answer into one text.

Known are tags (`<think>`, `<thinking>`, `<reasoning>`, ..., `[THINK]` and the like) and the channels of gpt-oss. A thought
begins a reply. A closing tag without its opening tag ends a thought that the chat template opened, unless blanks, quotes
or punctuation part it from text on its line, as in a sentence about tags.
"""

import re
from collections import deque

__all__ = ["begun_in", "ended", "marked", "spoken"]

PAIRS = {  # opening and closing marks besides tags
    "[THINK]": "[/THINK]",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "◁think▷": "◁/think▷",
    "<unused94>": "<unused95>",
}
OPENED_BY = {end: start for start, end in PAIRS.items()}
TAGS = "think|thinking|thoughts?|reasoning|reflection|scratchpad|seed:think"
MARK = re.compile(
    rf"(?i:<(?P<end>/?)(?P<tag>{TAGS})(?:\s+[\w-]+\s*=[^<>]*)?\s*>)"
    rf"|(?P<other>{'|'.join(map(re.escape, [*PAIRS, *OPENED_BY]))})"
)
CHANNEL, FINAL = "<|channel|>", "final"
CHANNEL_TEXT = re.compile(
    r"\s*(?P<name>\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>(?P<text>.*?)(?:<\|\w+\|>|$)", re.DOTALL
)
BARE_CHANNEL = re.compile(
    r"\s*(?:assistant)?(?:analysis|commentary)(?=[A-Z\"'(])"
)  # a server dropped the special tokens
BARE_FINAL = "assistantfinal"
THOUGHT_ENDS = re.compile(r"[^\W_]|[.!?…)\]}。！？]")  # last character of a thought; no blank, quote or `|`
ANSWER_BEGINS = re.compile(r"[^\s.,;:!?)\]`]")


def spoken(text: str) -> str | None:
    """The text after the thoughts, unchanged where there is none; None for a thought without an end.

    >>> spoken("<think>Ann?\\n\\nNo.</think>\\n\\nBob."), spoken("The <think> tag"), spoken("<think>Ann?\\n\\nNo")
    ('\\n\\nBob.', 'The <think> tag', None)
    """
    texts = [match for part in text.split(CHANNEL)[1:] if (match := CHANNEL_TEXT.match(part))]
    if texts or text.lstrip().startswith(CHANNEL):
        return next((match["text"] for match in reversed(texts) if match["name"] == FINAL), None)
    if BARE_CHANNEL.match(text):
        _, final, answer = text.rpartition(BARE_FINAL)
        return answer if final else None
    start, opened, mentioned = 0, None, set()
    for mark in MARK.finditer(text):
        tag, opens = _kind(mark)
        if opened is None and opens and not text[start : mark.start()].strip():
            opened = tag
        elif opened is None and opens:
            mentioned.add(tag)
        elif not opens and (opened == tag if opened else tag not in mentioned and _ends_thought(mark)):
            start, opened = mark.end(), None
    return text[start:] if opened is None else None


def marked(text: str) -> bool:
    """Whether a text holds a mark of thoughts."""
    return CHANNEL in text or MARK.search(text) is not None


def begun_in(prompt: str) -> str:
    """The opening mark that ends a prompt, so that its reply begins within a thought; empty without one."""
    mark = next(iter(deque(MARK.finditer(prompt), maxlen=1)), None)
    return mark[0] if mark and _kind(mark)[1] and not prompt[mark.end() :].strip() else ""


def ended(prompt: str) -> str:
    """The prompt with the thought that it begins ended at once, so that the next word is spoken.

    >>> ended("Who?<think>\\n"), ended("Who?")
    ('Who?<think>\\n\\n</think>\\n\\n', 'Who?')
    """
    mark = begun_in(prompt)
    end = PAIRS.get(mark) or f"</{mark[1:]}"
    return f"{prompt.rstrip()}\n\n{end}\n\n" if mark else prompt


def _ends_thought(mark: re.Match) -> bool:
    """Whether a closing mark without its opening mark ends a thought: alone on its line, or with text right beside it."""
    before = mark.string[: mark.start()].rpartition("\n")[2]
    after = mark.string[mark.end() :].partition("\n")[0]
    ends = not before.strip() or THOUGHT_ENDS.match(before[-1])
    return bool(ends and (not after.strip() or ANSWER_BEGINS.match(after)))


def _kind(mark: re.Match) -> tuple[str, bool]:
    """(name of the pair, whether the mark opens a thought)."""
    other = mark["other"]
    return (OPENED_BY.get(other, other), other in PAIRS) if other else (mark["tag"].lower(), not mark["end"])
