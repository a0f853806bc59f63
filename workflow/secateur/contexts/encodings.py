"""Encodings of selected edges: the three views of the paper (2.6, figures 8 and 9), and cited lines, which are ours.

`words`, `ids` and `matrix` are compact JSON under the paper's rules; `lines` are `head: relation tail; relation tail
[source]`. A view is a list of rows, so that each fact keeps its source; joined, they are the text as it is sent. Every view
decodes to the same edges.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

__all__ = ["ENCODINGS", "RULES", "Fact", "Payload", "decode", "encode"]

Triple = tuple[str, str, str]  # head, relation, tail
Line = tuple[str, int | None]  # a row of the view, and the place of its fact
ENCODINGS = ("words", "ids", "matrix", "lines")

# Figure 9 of the paper, word for word. Given knowledge stays empty outside sessions.
RULES = {
    "matrix": "---Knowledge Base---\n[JSON format]\n- e: list of entities (e[i] = entity string)\n"
    "- r: list of relations (r[j] = relation string)\n- edge_matrix: [[head_e_idx, r_idx, tail_e_idx]]\n"
    "  * NOTE: edges[i] is just shorthand for edge_matrix[i]\n- questions(edges[i]): questions linked by edge i\n"
    "- given knowledge(edges[i]): prior answers linked by edge i\n- facts(edges[i]): facts linked by edge i",
    "ids": "---Knowledge Base---\n[JSON format]\n- e: list of entities (e[i] = entity string)\n"
    "- r: list of relations (r[j] = relation string)\n- [e,r,e]: triple [head_e_idx, r_idx, tail_e_idx]\n"
    "- questions([e,r,e], ...): question triples\n- given knowledge([e,r,e], ...): prior answer triples\n"
    "- facts([e,r,e], ...): fact triples",
    "words": "---Knowledge Base---\n[JSON format]\n- questions(words): question triples\n"
    "- given knowledge(words): prior answer triples\n- facts(words): fact triples",
}


@dataclass(frozen=True)
class Fact:
    """An edge with the number of its source."""

    triple: Triple
    source: int


@dataclass(frozen=True)
class Payload:
    """Content of a view: triples of questions, triples of prior answers, and facts."""

    questions: tuple[Triple, ...] = ()
    knowledge: tuple[Triple, ...] = ()
    facts: tuple[Fact, ...] = ()

    @property
    def triples(self) -> tuple[Triple, ...]:
        """All triples in the order of the view."""
        return (*self.questions, *self.knowledge, *(fact.triple for fact in self.facts))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _object(members: Sequence[tuple[str, object]], facts: tuple[str, Sequence[object]]) -> list[Line]:
    """A JSON object as rows: all members before the facts, then one row for each fact."""
    name, values = facts
    head = "{" + "".join(f"{_json(key)}:{_json(value)}," for key, value in members) + f"{_json(name)}:["
    if not values:
        return [(head + "]}", None)]
    ends = [","] * (len(values) - 1) + ["]}"]
    return [(head, None), *((_json(value) + end, n) for n, (value, end) in enumerate(zip(values, ends, strict=True)))]


def _vocabulary(triples: Sequence[Triple]) -> tuple[list[str], list[str], list[list[int]]]:
    """(entities, relations, triples as places in both)."""
    entities = list(dict.fromkeys(x for h, _, t in triples for x in (h, t)))
    relations = list(dict.fromkeys(r for _, r, _ in triples))
    e, r = {x: n for n, x in enumerate(entities)}, {x: n for n, x in enumerate(relations)}
    return entities, relations, [[e[h], r[x], e[t]] for h, x, t in triples]


def _words(payload: Payload, _: Collection) -> list[Line]:
    members = [("questions(words)", payload.questions), ("given knowledge(words)", payload.knowledge)]
    return _object(members, ("facts(words)", [fact.triple for fact in payload.facts]))


def _ids(payload: Payload, _: Collection) -> list[Line]:
    e, r, ids = _vocabulary(payload.triples)
    facts_start = len(payload.questions) + len(payload.knowledge)
    members = [("e", e), ("r", r), ("questions([e,r,e], ...)", ids[: len(payload.questions)])]
    members += [("given knowledge([e,r,e], ...)", ids[len(payload.questions) : facts_start])]
    return _object(members, ("facts([e,r,e], ...)", ids[facts_start:]))


def _matrix(payload: Payload, _: Collection) -> list[Line]:
    edges = list(dict.fromkeys(payload.triples))
    e, r, matrix = _vocabulary(edges)
    place = {edge: n for n, edge in enumerate(edges)}
    members = [("e", e), ("r", r), ("edge_matrix", matrix)]
    members += [("questions(edges[i])", [place[x] for x in payload.questions])]
    members += [("given knowledge(edges[i])", [place[x] for x in payload.knowledge])]
    return _object(members, ("facts(edges[i])", [place[fact.triple] for fact in payload.facts]))


_ESCAPES = str.maketrans({mark: f"\\{mark}" for mark in "\\?<;:[|"} | {"\n": "\\n", "\r": "\\r"})
_UNESCAPES = {"n": "\n", "r": "\r"}


def escape(surface: str) -> str:
    """A surface form with the marks of cited lines escaped. Marks are rare in text, so this adds few tokens."""
    return surface.translate(_ESCAPES)


def _unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _UNESCAPES.get(m[1], m[1]), text)


def relation_tail(triple: Triple, ambiguous: Collection[tuple[str, str]]) -> str:
    """ "relation tail", with a bar between them if another edge of the head reads the same."""
    _, relation, tail = triple
    plain = f"{relation} {tail}"
    return f"{escape(relation)} | {escape(tail)}" if (triple[0], plain) in ambiguous else escape(plain)


def _lines(payload: Payload, ambiguous: Collection[tuple[str, str]]) -> list[Line]:
    """Cited lines: questions after `?`, prior answers after `<`, then a row for each head and source."""
    rows: list[Line] = [
        (f"{mark} {escape(triple[0])}: {relation_tail(triple, ambiguous)}", None)
        for mark, triples in (("?", payload.questions), ("<", payload.knowledge))
        for triple in triples
    ]
    groups: list[tuple[str, int, int, list[str]]] = []
    for n, fact in enumerate(payload.facts):
        if not groups or groups[-1][:2] != (fact.triple[0], fact.source):
            groups.append((fact.triple[0], fact.source, n, []))
        groups[-1][3].append(relation_tail(fact.triple, ambiguous))
    rows += [(f"{escape(head)}: {'; '.join(rests)} [{source}]", n) for head, source, n, rests in groups]
    return [(text + "\n" * (n < len(rows) - 1), fact) for n, (text, fact) in enumerate(rows)]


_ENCODERS: dict[str, Callable[[Payload, Collection], list[Line]]] = {
    "words": _words,
    "ids": _ids,
    "matrix": _matrix,
    "lines": _lines,
}


def encode(encoding: str, payload: Payload, ambiguous: Collection[tuple[str, str]] = ()) -> list[Line]:
    """Rows of a view, each with the place of its fact or None; a row of `lines` has the place of its first fact.

    ambiguous: (head, "relation tail") of more than one edge.
    """
    return _ENCODERS[encoding](payload, ambiguous)


def _scan(text: str, mark: str) -> list[str]:
    """Split a text at each unescaped mark."""
    pieces, current, n = [], "", 0
    while n < len(text):
        if text[n] == "\\":
            current, n = current + text[n : n + 2], n + 2
        elif text.startswith(mark, n):
            pieces, current, n = [*pieces, current], "", n + len(mark)
        else:
            current, n = current + text[n], n + 1
    return [*pieces, current]


Channels = tuple[tuple[Triple, ...], tuple[Triple, ...], tuple[Triple, ...]]  # questions, knowledge, facts


def _decode_lines(text: str, triples: Collection[Triple]) -> Channels:
    by_text = {(h, f"{r} {t}"): (h, r, t) for h, r, t in triples}
    channels: dict[str, list[Triple]] = {"? ": [], "< ": [], "": []}
    for line in text.split("\n") if text else []:
        mark = line[:2] if line[:2] in channels else ""
        body = line[2:] if mark else re.sub(r" \[\d+\]$", "", line)
        head, tails = _scan(body, ": ")
        for tail in _scan(tails, "; "):
            fields = [_unescape(part) for part in _scan(tail, " | ")]
            entity = _unescape(head)
            channels[mark].append((entity, *fields) if len(fields) == 2 else by_text[entity, fields[0]])
    return tuple(map(tuple, channels.values()))


def decode(encoding: str, text: str, triples: Collection[Triple]) -> Channels:
    """(question, prior answer and fact triples) of a view. triples: of the codebook, to resolve cited lines."""
    if encoding == "lines":
        return _decode_lines(text, triples)
    view = json.loads(text)
    suffix = {"words": "(words)", "ids": "([e,r,e], ...)", "matrix": "(edges[i])"}[encoding]
    channels = [view[channel + suffix] for channel in ("questions", "given knowledge", "facts")]
    if encoding == "words":
        return tuple(tuple(map(tuple, part)) for part in channels)
    e, r = view["e"], view["r"]
    if encoding == "matrix":
        channels = [[view["edge_matrix"][i] for i in part] for part in channels]
    return tuple(tuple((e[h], r[x], e[t]) for h, x, t in part) for part in channels)
