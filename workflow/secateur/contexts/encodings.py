"""Four equivalent views of the selected edges (paper 2.6, figures 8 and 9), and the whole prompt.

`words`, `ids` and `matrix` are the paper's; `lines` are ours: `head: relation tail; relation tail [source]`.
Every view decodes to the same edges.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

__all__ = ["ENCODINGS", "Edge", "Payload", "decode", "encode", "render"]

Edge = tuple[str, str, str]  # head, relation, tail
ENCODINGS = ("words", "ids", "matrix", "lines")

# Figure 9 of the paper, without the channel that is empty while memory is off.
RULES = {
    "matrix": "---Knowledge Base---\n[JSON format]\n- e: list of entities (e[i] = entity string)\n"
    "- r: list of relations (r[j] = relation string)\n- edge_matrix: [[head_e_idx, r_idx, tail_e_idx]]\n"
    "  * NOTE: edges[i] is just shorthand for edge_matrix[i]\n- questions(edges[i]): questions linked by edge i\n"
    "- facts(edges[i]): facts linked by edge i",
    "ids": "---Knowledge Base---\n[JSON format]\n- e: list of entities (e[i] = entity string)\n"
    "- r: list of relations (r[j] = relation string)\n- [e,r,e]: triple [head_e_idx, r_idx, tail_e_idx]\n"
    "- questions([e,r,e], ...): question triples\n- facts([e,r,e], ...): fact triples",
    "words": "---Knowledge Base---\n[JSON format]\n- questions(words): question triples\n- facts(words): fact triples",
    "lines": "Facts, one subject a line (subject: relation object; relation object [source]):",
}


@dataclass(frozen=True)
class Payload:
    """What a prompt carries: question edges, fact edges with the number of their source, whole sentences."""

    questions: tuple[Edge, ...]
    facts: tuple[Edge, ...]
    sources: tuple[int, ...]  # one for each fact
    sentences: tuple[str, ...] = ()


def _indices(edges: Sequence[Edge]) -> tuple[list[str], list[str], list[list[int]]]:
    entities = list(dict.fromkeys(x for h, _, t in edges for x in (h, t)))
    relations = list(dict.fromkeys(r for _, r, _ in edges))
    e, r = {x: n for n, x in enumerate(entities)}, {x: n for n, x in enumerate(relations)}
    return entities, relations, [[e[h], r[x], e[t]] for h, x, t in edges]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _with_sentences(view: dict, payload: Payload) -> str:
    return _json(view | ({"sentences": list(payload.sentences)} if payload.sentences else {}))


def _encode_words(payload: Payload, _: Collection) -> str:
    return _with_sentences({"questions(words)": payload.questions, "facts(words)": payload.facts}, payload)


def _encode_ids(payload: Payload, _: Collection) -> str:
    e, r, ids = _indices(payload.questions + payload.facts)
    cut = len(payload.questions)
    view = {"e": e, "r": r, "questions([e,r,e], ...)": ids[:cut], "facts([e,r,e], ...)": ids[cut:]}
    return _with_sentences(view, payload)


def _encode_matrix(payload: Payload, _: Collection) -> str:
    edges = list(dict.fromkeys(payload.questions + payload.facts))
    e, r, matrix = _indices(edges)
    place = {edge: n for n, edge in enumerate(edges)}
    view = {"e": e, "r": r, "edge_matrix": matrix}
    view |= {
        "questions(edges[i])": [place[x] for x in payload.questions],
        "facts(edges[i])": [place[x] for x in payload.facts],
    }
    return _with_sentences(view, payload)


_SPECIAL = {
    "\\": "\\\\",
    "?": "\\?",
    ">": "\\>",
    ";": "\\;",
    ":": "\\:",
    "[": "\\[",
    "|": "\\|",
    "\n": "\\n",
    "\r": "\\r",
}
_BACK = {"n": "\n", "r": "\r"}


def escape(surface: str) -> str:
    """A surface form without the marks of cited lines. Rare in text, so it costs next to nothing."""
    return "".join(_SPECIAL.get(c, c) for c in surface)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _BACK.get(m[1], m[1]), text)


def rest_of(edge: Edge, ambiguous: Collection[tuple[str, str]]) -> str:
    """ "relation tail"; with a bar between them where another edge of that head reads the same."""
    _, relation, tail = edge
    plain = f"{relation} {tail}"
    return f"{escape(relation)} | {escape(tail)}" if (edge[0], plain) in ambiguous else escape(plain)


def _encode_lines(payload: Payload, ambiguous: Collection[tuple[str, str]]) -> str:
    """Questions after `?`, then a line for each head of each source, then whole sentences after `>`."""
    lines = [f"? {escape(h)}: {rest_of((h, r, t), ambiguous)}" for h, r, t in payload.questions]
    groups: list[tuple[str, int, list[str]]] = []
    for edge, source in zip(payload.facts, payload.sources, strict=True):
        if not groups or groups[-1][:2] != (edge[0], source):
            groups.append((edge[0], source, []))
        groups[-1][2].append(rest_of(edge, ambiguous))
    lines += [f"{escape(head)}: {'; '.join(rests)} [{source}]" for head, source, rests in groups]
    return "\n".join(lines + [f"> {escape(text)}" for text in payload.sentences])


_ENCODERS: dict[str, Callable[[Payload, Collection], str]] = {
    "words": _encode_words,
    "ids": _encode_ids,
    "matrix": _encode_matrix,
    "lines": _encode_lines,
}


def encode(encoding: str, payload: Payload, ambiguous: Collection[tuple[str, str]] = ()) -> str:
    """One view of the payload. ambiguous: (head, "relation tail") that more than one known edge reads as."""
    return _ENCODERS[encoding](payload, ambiguous)


def _scan(text: str, mark: str) -> list[str]:
    """Split at each unescaped mark."""
    parts, current, n = [], "", 0
    while n < len(text):
        if text[n] == "\\":
            current, n = current + text[n : n + 2], n + 2
        elif text.startswith(mark, n):
            parts, current, n = [*parts, current], "", n + len(mark)
        else:
            current, n = current + text[n], n + 1
    return [*parts, current]


def _decode_lines(text: str, known: Collection[Edge]) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    by_text = {(h, f"{r} {t}"): (h, r, t) for h, r, t in known}
    questions, facts = [], []
    for line in text.split("\n") if text else []:
        if line.startswith("> "):
            continue
        asked = line.startswith("? ")
        body = line[2:] if asked else re.sub(r" \[\d+\]$", "", line)
        head, rests = _scan(body, ": ")
        for rest in _scan(rests, "; "):
            parts = [_unescape(part) for part in _scan(rest, " | ")]
            head_text = _unescape(head)
            edge = (head_text, *parts) if len(parts) == 2 else by_text[head_text, parts[0]]
            (questions if asked else facts).append(edge)
    return tuple(questions), tuple(facts)


def decode(encoding: str, text: str, known: Collection[Edge]) -> tuple[tuple[Edge, ...], tuple[Edge, ...]]:
    """(question edges, fact edges) of a view. known: the codebook's edges, which cited lines are read against."""
    if encoding == "lines":
        return _decode_lines(text, known)
    view = json.loads(text)
    if encoding == "words":
        return tuple(tuple(tuple(e) for e in view[k]) for k in ("questions(words)", "facts(words)"))
    e, r = view["e"], view["r"]
    if encoding == "ids":
        rows = [view["questions([e,r,e], ...)"], view["facts([e,r,e], ...)"]]
    else:
        rows = [[view["edge_matrix"][i] for i in view[k]] for k in ("questions(edges[i])", "facts(edges[i])")]
    return tuple(tuple((e[h], r[x], e[t]) for h, x, t in part) for part in rows)


def render(encoding: str, view: str, question: str) -> str:
    """The whole prompt: rules, view, question."""
    return f"{RULES[encoding]}\n{view}\n\nQuestion: {question}\nAnswer:"
