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


# --- HippoRAG 2 ------------------------------------------------------------------------------------


def test_hipporag_gets_entities_triples_and_a_filter():
    named = hipporag2.reply(user(f"Ann\n{BOTH}", 'Respond with {"named_entities": []}'), EXTRACTION)
    assert json.loads(named) == {"named_entities": ["Ann Lee", "Ghent", "Belgium"]}
    asked = f"Convert the paragraph.\nParagraph:\n```\n{BOTH}\n```\n" + '{"named_entities": ["Ghent"]}'
    triples = hipporag2.reply(user(asked, "construct an RDF graph from named_entities"), EXTRACTION)
    assert json.loads(triples) == {"triples": [["Ann Lee", "born in", "Ghent"], ["Ghent", "is in", "Belgium"]]}


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        (QUESTION, [["ann lee", "born in", "ghent"]]),
        ("What rains?", [["ann lee", "born in", "ghent"], ["kent", "is", "wet"]]),
    ],
)
def test_its_filter_keeps_what_shares_a_phrase_with_the_question(question, kept):
    offered = json.dumps({"fact": [["ann lee", "born in", "ghent"], ["kent", "is", "wet"]]})
    text = f"[[ ## question ## ]]\n{question}\n\n[[ ## fact_before_filter ## ]]\n{offered}\n\nRespond with the fields."
    said = hipporag2.reply(user(text), EXTRACTION)
    assert json.loads(said.split("\n")[1]) == {"fact": kept}


def test_its_filter_reads_phrases_with_capitals_and_marks():
    """Its facts are in lower case."""
    named = SimpleNamespace(phrases=lambda _: ["Kent,", "Free Guy"])
    offered = json.dumps({"fact": [["ann lee", "born in", "ghent"], ["kent", "is", "wet"]]})
    text = f"[[ ## question ## ]]\n?\n\n[[ ## fact_before_filter ## ]]\n{offered}\n\nRespond with the fields."
    assert hipporag2._filtered(text, named) == [["kent", "is", "wet"]]


@pytest.mark.parametrize("text", ["It rains in Kent.", "In Kent, it rains", "The county (Kent) is wet", "kent"])
def test_a_part_is_relevant_whatever_stands_beside_its_word(text):
    named = SimpleNamespace(phrases=lambda _: ["Kent"])
    assert lazy_graphrag.reply(user(f"{lazy_graphrag.TEST}?{lazy_graphrag.TEXT}{text}"), named) == "yes"


def test_a_passage_that_asks_a_question_does_not_end_the_context():
    faq = "Opening hours\nQuestion: When does it open?"
    prompt = user("Read." + PART.join([faq, "Ann Lee owns it."]) + f"\nQuestion: {QUESTION}\nAnswer:")
    assert answer_context(prompt, "Read.") == [faq, "Ann Lee owns it."]


def test_its_context_is_the_passages_that_it_answers_from():
    prompt = user(
        f"Wikipedia Title: A\n{TEXTS[0]}\n\nWikipedia Title: B\n{TEXTS[1]}\n\nQuestion: {QUESTION}\nThought: "
    )
    assert hipporag2.context(prompt) == [f"A\n{TEXTS[0]}", f"B\n{TEXTS[1]}"]
    assert hipporag2.reply(prompt, EXTRACTION)


# --- LightRAG --------------------------------------------------------------------------------------


def test_lightrag_gets_entities_and_relations_line_by_line():
    prompt = user(f"---Input Text---\n```\n{BOTH}\n```\n\n---Output---\n", "entity<|#|>name")
    lines = lightrag.reply(prompt, EXTRACTION).split("\n")
    assert lines[0] == f"entity<|#|>Ann Lee<|#|>Other<|#|>{TEXTS[0]}"
    assert f"relation<|#|>Ghent<|#|>Belgium<|#|>is in<|#|>{TEXTS[1]}" in lines
    assert lines[-1] == "<|COMPLETE|>"
    assert lightrag.reply(user("Based on the last extraction task, add what was missed."), EXTRACTION) == "<|COMPLETE|>"


def test_lightrag_gets_keywords_and_summaries():
    asked = user(f'{{"high_level_keywords": []}}\n---Real Data---\nUser Query: {QUESTION}\n\n---Output---\n')
    assert json.loads(lightrag.reply(asked, EXTRACTION))["low_level_keywords"] == ["ann lee"]
    told = "\n".join(json.dumps({"Description": text}) for text in ("a", "b", "a", "c"))
    assert lightrag.reply(user(f"Description List:\n\n```\n{told}\n```\n"), EXTRACTION) == "a b"


def test_its_context_is_descriptions_then_chunks():
    entity, chunk = {"entity": "GHENT", "description": TEXTS[1]}, {"reference_id": "1", "content": 'He said "```".'}
    system = (
        f"Knowledge Graph Data (Entity):\n\n```json\n{json.dumps(entity)}\n```\n\n"
        "Knowledge Graph Data (Relationship):\n\n```json\n\n```\n\n"
        f"Document Chunks (Each entry has a reference_id):\n\n```json\n{json.dumps(chunk)}\n```\n\nReference Document List (x)"
    )
    assert lightrag.context(user(QUESTION, system)) == [TEXTS[1], 'He said "```".']


# --- nano-graphrag ---------------------------------------------------------------------------------

QUOTED = 'The film "Heat", directed by Mann.\nIt "is" long.\n```\nmake\n```\n---\nThen'
TABLES = (  # the package encloses a text in quotes, and doubles none inside
    '-----Reports-----\n```csv\n"id",\t"content"\n0,\t"# Ghent\n\nIt "is"."\n```\n'
    f'-----Entities-----\n```csv\n"id",\t"entity",\t"type",\t"description",\t"rank"\n'
    f'0,\t"GHENT",\t"other",\t"{TEXTS[0]}<SEP>{TEXTS[1]}",\t2\n```\n'
    f'-----Relationships-----\n```csv\n"id",\t"source",\t"target",\t"description",\t"weight"\n```\n'
    f'-----Sources-----\n```csv\n"id",\t"content"\n0,\t"{QUOTED}"\n1,\t"{BOTH}"\n```\n'
)


def test_nano_graphrag_gets_records_reports_and_an_end():
    example = '("entity"<|>"Example"<|>"x")\n'
    said = nano_graphrag.reply(user(f"{example}-Real Data-\nText: {BOTH}\n######################\nOutput:"), EXTRACTION)
    assert f'("relationship"<|>Ann Lee<|>Ghent<|>{TEXTS[0]}<|>1)' in said
    assert said.endswith("##\n<|COMPLETE|>")
    assert nano_graphrag.reply(user("MANY entities were missed in the last extraction."), EXTRACTION) == "<|COMPLETE|>"
    assert nano_graphrag.reply(user("Answer YES | NO if there are still some."), EXTRACTION) == "NO"
    report = json.loads(
        nano_graphrag.reply(user(f"Write a comprehensive report of a community.\n{TABLES}"), EXTRACTION)
    )
    assert report["title"] == "GHENT"
    assert report["findings"] == [{"summary": "GHENT", "explanation": f"{TEXTS[0]}<SEP>{TEXTS[1]}"}]


def test_its_context_is_reports_descriptions_and_sources():
    found = nano_graphrag.context(user(QUESTION, f"---Data tables---\n{TABLES}"))
    assert found == ['# Ghent\n\nIt "is".', TEXTS[0], TEXTS[1], QUOTED, BOTH]
    naive = (
        f"Below are the knowledge you know:\n{QUOTED}--New Chunk--\n{TEXTS[1]}\n---\nIf you don't know the answer or if the "
        "provided knowledge do not contain sufficient information"
    )
    assert nano_graphrag.context(user(QUESTION, naive)) == [QUOTED, TEXTS[1]]


def test_a_passage_with_marks_of_records_is_one_record():
    text = "The mill\nhas ## stood <|> in Leeds."
    facts = SimpleNamespace(facts=lambda _: [Fact("Mill", "in", "Leeds", text)])
    asked = user('("entity"<|>"Example"<|>"x")\n-Real Data-\nText: x\n######################\nOutput:')
    records = nano_graphrag.reply(asked, facts).split("\n##\n")
    assert records[-2:] == [
        '("relationship"<|>Mill<|>Leeds<|>The mill has # # stood < |> in Leeds.<|>1)',
        "<|COMPLETE|>",
    ]


# --- fast-graphrag ---------------------------------------------------------------------------------


def test_fast_graphrag_gets_json():
    graph = json.loads(fast_graphrag.reply(user(f"<<DOCUMENT_START>>\n{BOTH}\n<<DOCUMENT_END>>"), EXTRACTION))
    assert graph["relationships"][1] == {"source": "Ghent", "target": "Belgium", "desc": TEXTS[1]}
    asked = user(f"-INPUT-\nQuery: {QUESTION}\nOutput:")
    assert json.loads(fast_graphrag.reply(asked, EXTRACTION)) == {"named": ["ann lee"], "generic": []}
    shorter = fast_graphrag.reply(user("Current:\na\nb\na\nc\nd\n\nUpdated:\n"), EXTRACTION)
    assert json.loads(shorter) == {"description": "a\nb"}
    assert json.loads(fast_graphrag.reply(user("grouped_facts of a list"), EXTRACTION)) == {"grouped_facts": []}


def test_its_context_is_tables_and_sources():
    marked = "Readme\n=====\n## Sources\n\n# INPUT DATA\n\n# USER QUERY\n## Entities\n```csv\nx\tdescription\n1\t2\n```"
    data = (
        f'## Entities\n```csv\nname\tdescription\nANN\t"Quoted" by\nGHENT\t{TEXTS[1]}\n```\n\n'
        f"## Relationships: Not provided\n\n"
        f"## Sources\n\n[1]  {TEXTS[0]}\n=====\n\n\n[2]  {marked}\n=====\n\n\n[3]  See [3] {TEXTS[1]}\n=====\n\n\n"
    )
    prompt = user(
        f"Help.\n\n# INPUT DATA\n\n{data}\n\n# USER QUERY\n{QUESTION}\n\n# INSTRUCTIONS\nYour goal is to provide"
    )
    assert fast_graphrag.context(prompt) == ['"Quoted" by', TEXTS[1], TEXTS[0], marked, f"See [3] {TEXTS[1]}"]


# --- RAPTOR ----------------------------------------------------------------------------------------


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


def test_a_summary_is_its_first_passages():
    assert raptor.reply(user(f"{raptor.SUMMARISE}\n{BOTH}"), EXTRACTION) == TEXTS[0]
    assert raptor.reply(user(f"{raptor.SUMMARISE}\nno passage"), EXTRACTION) == "no passage"


# --- GraphRAG ----------------------------------------------------------------------------------------

GOAL = "\n---Goal---\nAnswer.\n"
LOCAL = (
    '---Role---\nYou are helpful.\n---Data tables---\n\n-----Reports-----\nid|title|content\n3|Ghent|"# Ghent\n\n## Ghent\n'
    f'{TEXTS[1]}"\n\n-----Entities-----\nid|entity|description|number of relationships\n0|ANN LEE|{TEXTS[0]}|1\n'
    f"1|GHENT|{TEXTS[1]}|2\n\n\n-----Sources-----\nid|text\n0|{BOTH}\n{GOAL}"
)


def test_graphrag_gets_entities_and_relations_and_no_second_round():
    asked = f'("entity"<|>NAME<|>TYPE)\n-Real Data-\nEntity_types: [x]\nText: {BOTH}\n######################\nOutput:'
    said = ms_graphrag.reply(user(asked), EXTRACTION)
    assert f'("entity"<|>Ann Lee<|>other<|>{TEXTS[0]})' in said
    assert f'("relationship"<|>Ghent<|>Belgium<|>{TEXTS[1]}<|>1)' in said
    assert ms_graphrag.reply(user("MANY entities and relationships were missed in it."), EXTRACTION) == "<|COMPLETE|>"
    assert ms_graphrag.reply(user("Answer with a single letter Y or N."), EXTRACTION) == "N"


def test_graphrag_summarises_by_the_first_descriptions_and_reports_by_the_first_entities():
    data = f"-Data-\nEntities: GHENT\nDescription List: {json.dumps([TEXTS[0], TEXTS[0], TEXTS[1]])}\n#######\nOutput:"
    assert ms_graphrag.reply(user(data), EXTRACTION) == BOTH
    table = f'-----Entities-----\nhuman_readable_id,title,description,degree\n0,GHENT,"{TEXTS[1]}",2\n\n\n-----Relationships-----\nx'
    report = json.loads(
        ms_graphrag.reply(user(f"IMPACT SEVERITY RATING\nText:\n{table}\nThe report should"), EXTRACTION)
    )
    assert report["findings"] == [{"summary": "GHENT", "explanation": TEXTS[1]}]


def test_graphrags_local_context_is_its_records_in_order():
    held = ms_graphrag.context(user(QUESTION, LOCAL))
    expected = [f'3|Ghent|"# Ghent\n\n## Ghent\n{TEXTS[1]}"']
    expected += [f"0|ANN LEE|{TEXTS[0]}|1", f"1|GHENT|{TEXTS[1]}|2", f"0|{BOTH}"]
    assert held == expected
    assert ms_graphrag.reply(user(QUESTION, LOCAL), EXTRACTION)


def test_graphrags_global_search_is_mapped_to_points_and_answers_from_them():
    asked = user(QUESTION, f'---Data tables---\n\n-----Reports-----\nid|x\n0|{BOTH}\n{GOAL}{{"points": []}}')
    assert ms_graphrag.context(asked) is None
    points = json.loads(ms_graphrag.reply(asked, EXTRACTION))["points"]
    assert points == [{"description": TEXTS[0], "score": 20}]  # "ann" and "lee"
    reduced = f"---Analyst Reports---\n\n----Analyst 1----\nImportance Score: 20\n{TEXTS[0]}\n\n----Analyst 2----\nImportance Score: 10\n{TEXTS[1]}\n{GOAL}"
    assert ms_graphrag.context(user(QUESTION, reduced)) == TEXTS


# --- LazyGraphRAG ------------------------------------------------------------------------------------


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
