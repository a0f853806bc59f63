"""Control tokens apart from texts: what looks like one inside a text is text, in scores, prompts and counts alike.

A tokenizer's twin knows its control tokens under private characters. A chat template's marks are changed into these
characters, marks within texts are not; so no text can begin a turn, end one, or stand for a token that it is not.
"""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["Marks", "Rendered", "marks_of", "textual"]

OURS, THEIRS = 0xF0000, 0x100000  # first private characters: of control tokens, and of marks that stand in texts
UNKNOWN = "\ufffd"  # in place of a text's own character of these ranges
MARK = re.compile(r"<\|.+\|>|[<\[◁⟨].*[>\]▷⟩]")


class Rendered(str):
    """A chat template's text, in which marks of texts are private characters until it is encoded."""

    __slots__ = ()


class Marks:
    """The marks of a tokenizer's control tokens."""

    def __init__(self, marks: Iterable[str]) -> None:
        self.ours = {mark: chr(OURS + n) for n, mark in enumerate(sorted(marks, key=lambda mark: (-len(mark), mark)))}
        self._theirs = {mark: chr(THEIRS + n) for n, mark in enumerate(self.ours)}
        self._any = re.compile("|".join(map(re.escape, self.ours)) or r"(?!)")
        private = [first + n for first in (OURS, THEIRS) for n in range(len(self.ours))]
        self._unknown = dict.fromkeys(private, UNKNOWN)
        self._back = {ord(character): mark for mark, character in self._theirs.items()}

    def hidden(self, text: str) -> str:
        """A text without marks, to be put into a chat template: private characters stand for them."""
        return self._any.sub(lambda mark: self._theirs[mark[0]], text.translate(self._unknown))

    def encodable(self, text: str) -> str:
        """What the twin encodes: a text as it is; of a template's text, its own marks as control tokens."""
        if not isinstance(text, Rendered):
            return text if text.isascii() else text.translate(self._unknown)
        return self._any.sub(lambda mark: self.ours[mark[0]], text).translate(self._back)

    def rendered(self, tokenizer: Any, text: str, **arguments: Any) -> Rendered:
        """A user's text in the chat template of a tokenizer, up to the reply."""
        turns = [{"role": "user", "content": self.hidden(text)}]
        return Rendered(tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True, **arguments))


def marks_of(backend: Any, template: str = "") -> Marks:
    """The marks of a `tokenizers.Tokenizer`: its special tokens, and others that a chat template writes as marks."""
    added = backend.get_added_tokens_decoder().values()
    return Marks(
        token.content
        for token in added
        if token.content.strip()
        and (
            token.special
            or token.content.startswith("<|")
            or (token.content in template and MARK.fullmatch(token.content))
        )
    )


def textual(backend: Any, marks: Marks) -> Any:
    """The twin of a `tokenizers.Tokenizer`, with equal ids, whose control tokens are the private characters of marks."""
    from tokenizers import Tokenizer

    data = json.loads(backend.to_str())
    for token in data["added_tokens"]:
        if token["content"] in marks.ours:
            token |= {"content": marks.ours[token["content"]], "normalized": False}
    model = data["model"]
    model["vocab"] = _renamed(model["vocab"], marks.ours)
    if model.get("unk_token"):
        model["unk_token"] = marks.ours.get(model["unk_token"], model["unk_token"])
    return Tokenizer.from_str(json.dumps(data, ensure_ascii=False))


def _renamed(vocab: Mapping[str, int] | list, names: Mapping[str, str]) -> Mapping[str, int] | list:
    """A vocabulary with control tokens renamed: a model of unigrams would find them in texts, too."""
    if isinstance(vocab, list):
        return [[names.get(piece, piece), score] for piece, score in vocab]
    return {names.get(piece, piece): number for piece, number in vocab.items()}
