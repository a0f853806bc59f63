"""What a memory knows beforehand, and of questions asked last."""

import numpy as np

from secateur.library.known import KEPT, Counted, Replies


class Words:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, texts):
        self.asked += texts
        return np.array([len(text.split()) for text in texts], np.int64)


def test_lines_that_are_known_are_counted_once_and_all_others_as_they_come():
    words = Words()
    count = Counted(words, ["a bear eats", "a bear eats", "salmon"])
    assert words.asked == ["a bear eats\n", "salmon\n"]
    for _ in range(2):
        found = count(["salmon\n", "a b c d", "a bear eats\n"])
        assert found.tolist() == [1, 4, 3]
        assert found.dtype == np.int64
    assert words.asked[2:] == ["a b c d"] * 2  # a context is written once: to remember it would fill the memory
    assert count([]).tolist() == []


def test_questions_are_remembered_until_there_are_too_many():
    replies = Replies()
    assert replies.get("q") is None
    for n in range(KEPT):
        replies.put(f"q{n}", n)
    assert replies.get("q0") == 0
    replies.put("one more", 7)
    assert replies.get("q0") is None
    assert replies.get("one more") == 7
