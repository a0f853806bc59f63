"""HippoRAG after its paper: its graph, its walk and its ranking, on graphs that are small enough to solve by hand."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_array

from secateur.core.pagerank import masses, transitions
from secateur.peers.adapters import hipporag1
from secateur.peers.corpus import TracedExtraction
from secateur.peers.wire import Document, Fact, Prompt

SETTINGS = hipporag1.Settings(synonyms=0.8, neighbours=100, damping=0.5, qa_top_k=2)
TEXTS = ["Ann Lee left Gent.", "It rained in Kent.", "Ghent lies in Belgium.", "Kent lies in England."]
FACTS = [("Ann Lee", "left", "Gent"), ("rain", "fell in", "Kent"), ("Ghent", "lies in", "Belgium")]
FACTS += [("Kent", "lies in", "England")]
SPELT = {"ghent": "gent"}  # phrases with one vector
QUESTION = "Where did Ann Lee live?"
EXTRACTION = TracedExtraction(
    TEXTS, {n: [Fact(*fact, TEXTS[n])] for n, fact in enumerate(FACTS)}, {QUESTION: ["Ann Lee!"], "Rain?": []}
)


class Client:
    """Answers as the endpoint does in controlled mode; a phrase has an axis of its own, and its misspelling the same."""

    def __init__(self, reply=None):
        self.asked, self.axes, self.reply = [], {}, reply

    def embed(self, texts):
        vectors = np.zeros((len(texts), 32), np.float32)
        for row, text in enumerate(texts):
            vectors[row, self.axes.setdefault(SPELT.get(text, text), len(self.axes))] = 1
        return vectors

    def ask(self, prompt):
        self.asked.append(prompt)
        return self.reply or hipporag1.reply(Prompt((("user", prompt),)), EXTRACTION)


def indexed(folder, settings=SETTINGS, **client):
    peer = hipporag1.Peer(settings, folder, "http://127.0.0.1:1/v1")
    peer._client = Client(**client)
    peer.index([Document("", text) for text in TEXTS])
    return peer


def read(peer, question=QUESTION):
    peer.ask(question)
    return hipporag1.context(Prompt((("user", peer._client.asked[-1]),)))


def test_a_walk_reaches_the_passage_behind_a_synonym(tmp_path):
    first = indexed(tmp_path)
    assert read(first) == [TEXTS[0], TEXTS[2]]
    again = hipporag1.Peer(SETTINGS, tmp_path, "http://127.0.0.1:1/v1")  # from its folder alone
    again._client = first._client
    assert read(again) == read(first)
    first._client.reply = "I do not know."  # without an entity passages keep their order
    assert read(first, "Who?") == TEXTS[:2]
    apart = hipporag1.Settings(synonyms=0.8, neighbours=0, damping=0.5, qa_top_k=2)
    assert read(indexed(tmp_path, apart)) == [TEXTS[0], TEXTS[1]], "without the edge the rest keeps the corpus' order"


def test_no_triple_at_all_is_no_index(tmp_path):
    with pytest.raises(ValueError, match="no triple in any passage"):
        indexed(tmp_path, reply='{"triples": [["a", "b"], "c"]}')


def test_edges_weigh_triples_or_the_cosine_of_synonyms():
    phrases = ["ghent", "gent", "kent", "uk"]
    vectors = np.eye(4, dtype=np.float32)
    vectors[1] = [0.9, np.sqrt(1 - 0.81), 0, 0]
    vectors[3] = vectors[2]  # its name is too short for synonyms of its own
    near = ("ghent", "near", "kent")
    triples = [[near, ("ghent", "by", "kent")], [near, ("gent", "is", "gent")]]
    edges, counts = hipporag1.graph(triples, phrases, vectors, SETTINGS)
    expected = np.zeros((4, 4))
    expected[0, 2] = expected[2, 0] = 2 * 3
    expected[0, 1] = expected[1, 0] = 2 * 0.9
    expected[2, 3] = expected[3, 2] = 1
    np.testing.assert_allclose(edges.toarray(), expected, atol=1e-6)
    assert counts.toarray().tolist() == [[2, 0, 2, 0], [1, 1, 1, 0]]
    assert hipporag1.restart(counts, [0, 1]).tolist() == pytest.approx([1 / 3, 2 / 3, 0, 0])


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.95])
def test_masses_solve_the_equation(damping):
    weights = np.array([[0, 1, 0, 0], [1, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0.0]])  # a path, and a phrase alone
    restart = np.array([0.75, 0, 0, 0.25])
    steps = weights / np.where(weights.sum(1) > 0, weights.sum(1), 1)[:, None]
    steps[3] = restart
    solved = np.linalg.solve(np.eye(4) - damping * steps.T, (1 - damping) * restart)
    np.testing.assert_allclose(masses(transitions(csr_array(weights)), restart, damping), solved, atol=1e-10)


def test_a_malformed_reply_names_nothing(capsys):
    assert hipporag1._read('```json\n{"triples": [[1, 2, 3]]}\n```', "triples") == [[1, 2, 3]]
    assert hipporag1._read("none", "triples") == hipporag1._read('{"triples": 3}', "triples") == []
    assert "no list triples in a reply: 'none'" in capsys.readouterr().out


def test_in_controlled_mode_it_gets_the_extraction():
    reply = hipporag1.reply(Prompt((("user", f"{hipporag1.ASKED}{QUESTION}"),)), EXTRACTION)
    assert json.loads(reply) == {"named_entities": ["Ann Lee!"]}
    reply = hipporag1.reply(Prompt((("user", f"{hipporag1.ENTITIES}{TEXTS[0]}"),)), EXTRACTION)
    assert json.loads(reply) == {"named_entities": ["Ann Lee", "Gent"]}
