"""What each adapter makes of its peer's prompts, in the shapes that these packages send."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from secateur.peers.adapters import (
    _client,
    fast_graphrag,
    hipporag1,
    hipporag2,
    lazy_graphrag,
    lightrag,
    ms_graphrag,
    nano_graphrag,
    raptor,
)
from secateur.peers.adapters._client import PART, answer_context
from secateur.peers.corpus import TracedExtraction
from secateur.peers.wire import Document, Fact, Prompt

TEXTS = ["Ann Lee was born in Ghent.", "Ghent, a city, is in Belgium."]
FACTS = {0: [Fact("Ann Lee", "born in", "Ghent", TEXTS[0])], 1: [Fact("Ghent", "is in", "Belgium", TEXTS[1])]}
EXTRACTION = TracedExtraction(TEXTS, FACTS, {"Where was Ann Lee born?": ["ann lee"]})
BOTH = " ".join(TEXTS)
QUESTION = "Where was Ann Lee born?"


def user(text: str, system: str = "") -> Prompt:
    return Prompt(((("system", system),) if system else ()) + (("user", text),))


def test_no_adapter_answers_a_prompt_that_it_does_not_know():
    for adapter in (fast_graphrag, hipporag1, hipporag2, lazy_graphrag, lightrag, ms_graphrag, nano_graphrag, raptor):
        assert adapter.context(user("Sing.")) is None
        assert adapter.reply(user("Sing."), EXTRACTION) is None


QUOTED = 'The film "Heat", directed by Mann.\nIt "is" long.\n```\nmake\n```\n---\nThen'
CSV = (  # nano-graphrag encloses a text in quotes, and doubles none inside
    '-----Reports-----\n```csv\n"id",\t"content"\n0,\t"# Ghent\n\nIt "is"."\n```\n'
    f'-----Entities-----\n```csv\n"id",\t"entity",\t"type",\t"description",\t"rank"\n'
    f'0,\t"GHENT",\t"other",\t"{TEXTS[0]}<SEP>{TEXTS[1]}",\t2\n```\n'
    f'-----Relationships-----\n```csv\n"id",\t"source",\t"target",\t"description",\t"weight"\n```\n'
    f'-----Sources-----\n```csv\n"id",\t"content"\n0,\t"{QUOTED}"\n1,\t"{BOTH}"\n```\n'
)
ENTITIES = f'-----Entities-----\nid,title,description,degree\n0,GHENT,"{TEXTS[1]}",2\n\n\n-----Relationships-----\nx'
GOAL = "\n---Goal---\nAnswer.\n"
OFFERED = json.dumps({"fact": [["ann lee", "born in", "ghent"], ["kent", "is", "wet"]]})
PARAGRAPH = f"Convert the paragraph.\nParagraph:\n```\n{BOTH}\n```\n" + '{"named_entities": ["Ghent"]}'
RECORDS = f'("entity"<|>"Example"<|>"x")\n-Real Data-\nText: {BOTH}\n######################\nOutput:'
KEYWORDS = f'{{"high_level_keywords": []}}\n---Real Data---\nUser Query: {QUESTION}\n\n---Output---\n'
MAPPED = f'---Data tables---\n\n-----Reports-----\nid|x\n0|{BOTH}\n{GOAL}{{"points": []}}'


@pytest.mark.parametrize(
    ("adapter", "prompt", "expected"),
    [
        (hipporag2, user(f"Ann\n{BOTH}", 'Respond with {"named_entities": []}'),
         {"named_entities": ["Ann Lee", "Ghent", "Belgium"]}),
        (hipporag2, user(PARAGRAPH, "construct an RDF graph from named_entities"),
         {"triples": [["Ann Lee", "born in", "Ghent"], ["Ghent", "is in", "Belgium"]]}),
        (fast_graphrag, user(f"-INPUT-\nQuery: {QUESTION}\nOutput:"), {"named": ["ann lee"], "generic": []}),
        (fast_graphrag, user("Current:\na\nb\na\nc\nd\n\nUpdated:\n"), {"description": "a\nb"}),
        (fast_graphrag, user("grouped_facts of a list"), {"grouped_facts": []}),
        (fast_graphrag, user(f"<<DOCUMENT_START>>\n{BOTH}\n<<DOCUMENT_END>>"),
         {"relationships": [{"source": "Ann Lee", "target": "Ghent", "desc": TEXTS[0]},
                            {"source": "Ghent", "target": "Belgium", "desc": TEXTS[1]}]}),
        (lightrag, user(KEYWORDS), {"low_level_keywords": ["ann lee"]}),
        (nano_graphrag, user(f"Write a comprehensive report of a community.\n{CSV}"),
         {"title": "GHENT", "findings": [{"summary": "GHENT", "explanation": f"{TEXTS[0]}<SEP>{TEXTS[1]}"}]}),
        (ms_graphrag, user(f"IMPACT SEVERITY RATING\nText:\n{ENTITIES}\nThe report should"),
         {"findings": [{"summary": "GHENT", "explanation": TEXTS[1]}]}),
        (ms_graphrag, user(QUESTION, MAPPED), {"points": [{"description": TEXTS[0], "score": 20}]}),  # "ann" and "lee"
    ],
)  # fmt: skip
def test_a_peer_that_reads_json_gets_what_the_extraction_holds(adapter, prompt, expected):
    said = json.loads(adapter.reply(prompt, EXTRACTION))
    assert {name: said[name] for name in expected} == expected


@pytest.mark.parametrize(
    ("adapter", "prompt", "lines"),
    [
        (lightrag, user(f"---Input Text---\n```\n{BOTH}\n```\n\n---Output---\n", "entity<|#|>name"),
         [f"entity<|#|>Ann Lee<|#|>Other<|#|>{TEXTS[0]}", f"relation<|#|>Ghent<|#|>Belgium<|#|>is in<|#|>{TEXTS[1]}",
          "<|COMPLETE|>"]),
        (nano_graphrag, user(RECORDS), [f'("relationship"<|>Ann Lee<|>Ghent<|>{TEXTS[0]}<|>1)', "<|COMPLETE|>"]),
        (ms_graphrag, user(RECORDS),
         [f'("entity"<|>Ann Lee<|>other<|>{TEXTS[0]})', f'("relationship"<|>Ghent<|>Belgium<|>{TEXTS[1]}<|>1)']),
    ],
)  # fmt: skip
def test_a_peer_that_reads_records_gets_a_line_for_each(adapter, prompt, lines):
    said = adapter.reply(prompt, EXTRACTION).replace("\n##", "").split("\n")
    assert [line for line in said if line in lines] == lines


@pytest.mark.parametrize(
    ("adapter", "text", "said"),
    [
        (lightrag, "Based on the last extraction task, add what was missed.", "<|COMPLETE|>"),
        (nano_graphrag, "MANY entities were missed in the last extraction.", "<|COMPLETE|>"),
        (nano_graphrag, "Answer YES | NO if there are still some.", "NO"),
        (ms_graphrag, "MANY entities and relationships were missed in it.", "<|COMPLETE|>"),
        (ms_graphrag, "Answer with a single letter Y or N.", "N"),
        (lightrag, 'Description List:\n\n```\n{"Description": "a"}\n{"Description": "b"}\n{"Description": "a"}\n{"Description": "c"}\n```\n', "a b"),
        (ms_graphrag, f"-Data-\nEntities: GHENT\nDescription List: {json.dumps([TEXTS[0], *TEXTS])}\n#######\nOutput:", BOTH),
        (raptor, f"{raptor.SUMMARISE}\n{BOTH}", TEXTS[0]),
        (raptor, f"{raptor.SUMMARISE}\nno passage", "no passage"),
    ],
)  # fmt: skip
def test_a_peer_gets_no_second_round_and_summaries_of_the_first_texts(adapter, text, said):
    assert adapter.reply(user(text), EXTRACTION) == said


def test_a_passage_with_marks_of_records_is_one_record():
    text = "The mill\nhas ## stood <|> in Leeds."
    facts = SimpleNamespace(facts=lambda _: [Fact("Mill", "in", "Leeds", text)])
    records = nano_graphrag.reply(user(RECORDS), facts).split("\n##\n")
    assert records[-2] == '("relationship"<|>Mill<|>Leeds<|>The mill has # # stood < |> in Leeds.<|>1)'


@pytest.mark.parametrize(
    ("question", "phrases", "kept"),
    [
        (QUESTION, ["ann lee"], [["ann lee", "born in", "ghent"]]),
        ("?", ["Kent,", "Free Guy"], [["kent", "is", "wet"]]),  # facts are in lower case, phrases as they are written
        ("What rains?", [], [["ann lee", "born in", "ghent"], ["kent", "is", "wet"]]),
    ],
)
def test_the_filter_of_hipporag_keeps_what_shares_a_phrase_with_the_question(question, phrases, kept):
    named = SimpleNamespace(phrases=lambda _: phrases)
    asked = f"[[ ## question ## ]]\n{question}\n\n[[ ## fact_before_filter ## ]]\n{OFFERED}\n\nRespond with the fields."
    said = hipporag2.reply(user(asked), named)
    assert json.loads(said.split("\n")[1]) == {"fact": kept}


MARKED = "Readme\n=====\n## Sources\n\n# INPUT DATA\n\n# USER QUERY\n## Entities\n```csv\nx\tdescription\n1\t2\n```"
TABLES_OF_FAST = (
    f'## Entities\n```csv\nname\tdescription\nANN\t"Quoted" by\nGHENT\t{TEXTS[1]}\n```\n\n'
    "## Relationships: Not provided\n\n"
    f"## Sources\n\n[1]  {TEXTS[0]}\n=====\n\n\n[2]  {MARKED}\n=====\n\n\n[3]  See [3] {TEXTS[1]}\n=====\n\n\n"
)
ENTITY, CHUNK = {"entity": "GHENT", "description": TEXTS[1]}, {"reference_id": "1", "content": 'He said "```".'}
JSON_OF_LIGHT = (
    f"Knowledge Graph Data (Entity):\n\n```json\n{json.dumps(ENTITY)}\n```\n\n"
    "Knowledge Graph Data (Relationship):\n\n```json\n\n```\n\n"
    f"Document Chunks (Each entry has a reference_id):\n\n```json\n{json.dumps(CHUNK)}\n```\n\nReference Document List (x)"
)
NAIVE = (
    f"Below are the knowledge you know:\n{QUOTED}--New Chunk--\n{TEXTS[1]}\n---\nIf you don't know the answer or if the "
    "provided knowledge do not contain sufficient information"
)
LOCAL = (
    '---Role---\nYou are helpful.\n---Data tables---\n\n-----Reports-----\nid|title|content\n3|Ghent|"# Ghent\n\n## Ghent\n'
    f'{TEXTS[1]}"\n\n-----Entities-----\nid|entity|description|number of relationships\n0|ANN LEE|{TEXTS[0]}|1\n'
    f"1|GHENT|{TEXTS[1]}|2\n\n\n-----Sources-----\nid|text\n0|{BOTH}\n{GOAL}"
)
REDUCED = (
    f"---Analyst Reports---\n\n----Analyst 1----\nImportance Score: 20\n{TEXTS[0]}\n\n"
    f"----Analyst 2----\nImportance Score: 10\n{TEXTS[1]}\n{GOAL}"
)
ASKED_OF_FAST = (
    f"# INPUT DATA\n\n{TABLES_OF_FAST}\n\n# USER QUERY\n{QUESTION}\n\n# INSTRUCTIONS\nYour goal is to provide"
)


@pytest.mark.parametrize(
    ("adapter", "prompt", "context"),
    [
        (hipporag2, user(f"Wikipedia Title: A\n{TEXTS[0]}\n\nWikipedia Title: B\n{TEXTS[1]}\n\nQuestion: Who?\nThought: "),
         [f"A\n{TEXTS[0]}", f"B\n{TEXTS[1]}"]),
        (lightrag, user(QUESTION, JSON_OF_LIGHT), [TEXTS[1], 'He said "```".']),
        (nano_graphrag, user(QUESTION, f"---Data tables---\n{CSV}"), ['# Ghent\n\nIt "is".', *TEXTS, QUOTED, BOTH]),
        (nano_graphrag, user(QUESTION, NAIVE), [QUOTED, TEXTS[1]]),
        (fast_graphrag, user(f"Help.\n\n{ASKED_OF_FAST}"), ['"Quoted" by', TEXTS[1], TEXTS[0], MARKED, f"See [3] {TEXTS[1]}"]),
        (ms_graphrag, user(QUESTION, LOCAL), [f'3|Ghent|"# Ghent\n\n## Ghent\n{TEXTS[1]}"', f"0|ANN LEE|{TEXTS[0]}|1",
                                              f"1|GHENT|{TEXTS[1]}|2", f"0|{BOTH}"]),
        (ms_graphrag, user(QUESTION, REDUCED), TEXTS),
        (ms_graphrag, user(QUESTION, MAPPED), None),  # reports that are mapped to points
    ],
)  # fmt: skip
def test_the_context_is_what_a_peer_answers_from_in_its_order(adapter, prompt, context):
    assert adapter.context(prompt) == context
    assert adapter.reply(prompt, EXTRACTION)


def test_a_passage_that_asks_a_question_does_not_end_the_context():
    faq = "Opening hours\nQuestion: When does it open?"
    prompt = user("Read." + PART.join([faq, "Ann Lee owns it."]) + f"\nQuestion: {QUESTION}\nAnswer:")
    assert answer_context(prompt, "Read.") == [faq, "Ann Lee owns it."]


class Client:
    """Answers as the endpoint does in controlled mode; vectors lie in two heaps."""

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        rng = np.random.default_rng(len(texts))
        found = rng.normal(0, 0.05, (len(texts), 24)).astype(np.float32)
        found[np.arange(len(texts)), [0 if "even" in text else 1 for text in texts]] += 1
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def ask(self, prompt):
        self.asked.append(prompt)
        return raptor.reply(user(prompt), EXTRACTION)


def test_raptor_reads_the_nearest_nodes_of_leaves_and_summaries(tmp_path):
    settings = raptor.Settings(layers=2, dimensions=3, clusters=10, threshold=0.1, tokens=20)
    peer = raptor.Peer(settings, tmp_path, "http://127.0.0.1:1/v1")
    peer._client = Client()
    peer.index([Document("", f"{'even' if n % 2 == 0 else 'odd'} number {n}") for n in range(30)])
    summaries = [prompt for prompt in peer._client.asked if prompt.startswith(raptor.SUMMARISE)]
    assert summaries
    assert all(("even" in prompt) != ("odd" in prompt) for prompt in summaries[:2])  # a heap is never mixed
    again = raptor.Peer(settings, tmp_path, "http://127.0.0.1:1/v1")  # from its folder alone
    again._client = Client()
    again.ask("an even one?")
    read = raptor.context(user(again._client.asked[-1]))
    assert read
    assert all("even" in text for text in read)
    assert sum(map(len, read)) <= settings.tokens * _client.CHARACTERS


class Lazy:
    """An endpoint for LazyGraphRAG: one vector a word of a small world, replies of the adapter."""

    WORLD = ("ann", "ghent", "rain", "belgium")

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        found = np.array([[word in text.lower() for word in self.WORLD] for text in texts], np.float32) + 0.01
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def ask(self, prompt):
        self.asked.append(user(prompt))
        return lazy_graphrag.reply(user(prompt), EXTRACTION)


def lazy(tmp_path, **changes) -> lazy_graphrag.Peer:
    settings = {"budget": 100, "chunks": 5, "patience": 3, "tokens": 100} | changes
    peer = lazy_graphrag.Peer(lazy_graphrag.Settings(**settings), tmp_path, "http://127.0.0.1:1/v1")
    peer._client = Lazy()
    return peer


@pytest.mark.parametrize("text", ["It rains in Kent.", "In Kent, it rains", "The county (Kent) is wet", "kent"])
def test_a_part_is_relevant_whatever_stands_beside_its_word(text):
    named = SimpleNamespace(phrases=lambda _: ["Kent"])
    assert lazy_graphrag.reply(user(f"{lazy_graphrag.TEST}?{lazy_graphrag.TEXT}{text}"), named) == "yes"


CHUNKS = [Document("", text) for text in (*TEXTS, "Rain falls on the hills.", "Heavy rain falls on a small roof.")]


def put_to_the_test(peer) -> list[str]:
    return [one.last for one in peer._client.asked if one.last.startswith(lazy_graphrag.TEST)]


def test_lazy_answers_from_the_claims_of_relevant_chunks(tmp_path):
    peer = lazy(tmp_path)
    peer.index(CHUNKS)
    peer.ask(QUESTION)
    assert lazy_graphrag.context(peer._client.asked[-1]) == [TEXTS[0]]
    assert 1 <= len(put_to_the_test(peer)) <= len(CHUNKS)
    again = lazy(tmp_path)  # from its folder alone
    again.ask(QUESTION)
    assert lazy_graphrag.context(again._client.asked[-1]) == [TEXTS[0]]


def test_lazy_spends_no_more_tests_than_its_budget_and_tests_none_twice(tmp_path):
    peer = lazy(tmp_path, budget=2, chunks=1)
    peer.index(CHUNKS)
    peer.ask(QUESTION)
    assert len(put_to_the_test(peer)) == len(set(put_to_the_test(peer))) <= 2
    assert TEXTS[0] in put_to_the_test(peer)[0]  # the best chunk of the best community first


def test_lazy_reads_as_many_claims_as_fit(tmp_path):
    peer = lazy(tmp_path, tokens=1)
    peer.index(CHUNKS)
    peer.ask(QUESTION)
    assert lazy_graphrag.context(peer._client.asked[-1]) == [""]
