"""REBEL's path from sentence to triple, with a tiny BART that was made to know three sentences by heart."""

import logging
from types import SimpleNamespace

import polars as pl
import pytest
from scripts import encode_questions

from secateur.core.errors import SecateurError
from secateur.graph.triples.extractors.rebel import FrontEnd, Settings, parse
from secateur.stage.contract import Context

SETTINGS = {"beams": 3, "length_penalty": 0.0, "max_tokens": 64, "batch": 2}
MARKS = ["<triplet>", "<subj>", "<obj>"]
LEARNT = {
    "The Rhine flows from Chur through Basel.": (
        "<triplet> The Rhine <subj> Chur <obj> flows from <subj> Basel <obj> flows through"
    ),
    "Alder bought the mill.": "<triplet> Alder <subj> the mill <obj> Bought",
    "Well, it rained and rained, and then it rained again.": "<triplet> it <subj>",
}


def _tokenizer(texts):
    """Byte-level BPE as BART's, trained on the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    fast.add_tokens(MARKS)
    return fast


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a tiny BART that has learnt what to write for each sentence."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    torch.manual_seed(0)
    tokenizer = _tokenizer([*LEARNT, *LEARNT.values()])
    size = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
    ids = {"bos_token_id": 0, "pad_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 2}
    config = BartConfig(
        vocab_size=len(tokenizer),
        d_model=32,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=128,
        dropout=0.0,
        forced_eos_token_id=None,
        **size,
        **ids,
    )
    model = BartForConditionalGeneration(config)
    read = tokenizer(list(LEARNT), padding=True, return_tensors="pt")
    labels = tokenizer(list(LEARNT.values()), padding=True, return_tensors="pt")["input_ids"]
    labels[labels == 1] = -100
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(150):
        loss = model(input_ids=read["input_ids"], attention_mask=read["attention_mask"], labels=labels).loss
        loss.backward()
        optimiser.step()
        optimiser.zero_grad()
    assert loss.item() < 0.05
    place = tmp_path_factory.mktemp("rebel")
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def front(folder, **changes) -> FrontEnd:
    return FrontEnd(Settings(**SETTINGS | {"model": str(folder)} | changes), SimpleNamespace(device="cpu"))


def facts(found) -> list[list[tuple[str, str, str]]]:
    return [[(t.head, t.relation, t.tail) for t in triples] for triples in found.triples]


def test_sentences_become_triples_in_their_order_whatever_the_batch(folder):
    river, mill, rain = LEARNT
    expected = [[("Rhine", "flows from", "Chur"), ("Rhine", "flows through", "Basel")], [("Alder", "bought", "mill")]]
    for batch in (1, 2, 3):
        found = front(folder, batch=batch)([river, rain, mill], None)
        assert facts(found) == [expected[0], [], expected[1]]
        assert found.counts == {"malformed_pieces": 1, "unparsed_passages": 1}
    assert [t.head_original for t in found.triples[0]] == ["The Rhine", "The Rhine"]


def test_questions_share_batches_and_each_keeps_its_own_triples(folder, tmp_path):
    river, mill, rain = LEARNT
    questions = pl.DataFrame({"question_id": ["q3", "q1", "q2"], "text": [river, rain, mill]})
    context, outputs = Context(logging.getLogger("test"), tmp_path / "cache", {}, "c1"), {}
    cfg = SimpleNamespace(
        extractor=SimpleNamespace(kind="rebel", block=128, settings=SETTINGS | {"model": str(folder)})
    )
    metrics = encode_questions.run(cfg, {"questions": questions}, outputs, context)
    rows = outputs["triples"].select("doc_id", "position", "n", "passage_id", "tail").rows()
    assert rows == [("q3", 0, 0, "q3", "Chur"), ("q3", 0, 1, "q3", "Basel"), ("q2", 0, 0, "q2", "mill")]
    assert (metrics, context.counts["cache_misses"]) == ({"questions": 3, "triples": 3}, 1)
    assert context.counts["questions_without_triple"] == 1


def test_greedy_search_works_too(folder):
    assert facts(front(folder, beams=1)(["Alder bought the mill."], None)) == [[("Alder", "bought", "mill")]]


def test_a_sentence_longer_than_the_window_is_cut_and_counted(folder):
    found = front(folder, max_tokens=16)([" ".join(["The Rhine flows"] * 20)], None)
    assert found.counts["cut_passages"] == 1


def test_the_identity_tells_weights_and_parameters_apart(folder, tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"other")
    known = {front(folder).identity, front(folder, beams=1).identity, front(tmp_path).identity, front("a/b").identity}
    assert len(known) == 4
    assert front(folder).identity == front(folder).identity


@pytest.mark.parametrize("content", [None, '{"model_type": "bert"}'])
def test_what_is_no_such_model_is_refused_with_a_fix(tmp_path, content):
    if content:
        (tmp_path / "config.json").write_text(content)
    with pytest.raises(SecateurError, match=r"extractor\.settings\.model .*cannot be loaded.*Fix: "):
        front(tmp_path)(["A sentence."], None)


@pytest.mark.parametrize(
    ("text", "expected", "malformed"),
    [
        ("<triplet> s <subj> o <obj> r", [("s", "r", "o")], 0),
        ("<triplet> s <subj> o <obj> r <subj> p <obj> q", [("s", "r", "o"), ("s", "q", "p")], 0),
        ("<triplet> s <subj> o <obj> r <triplet> t <subj> o <obj> r", [("s", "r", "o"), ("t", "r", "o")], 0),
        ("", [], 0),
        ("no marks at all", [], 1),
        ("stray <triplet> s <subj> o <obj> r", [("s", "r", "o")], 1),
        ("<triplet> s", [], 1),
        ("<triplet> s <subj> o", [], 1),
        ("<triplet> s <obj> r", [], 1),
        ("<triplet> s <subj> o <obj> r <obj> r", [], 1),
        ("<triplet> <subj> o <obj> r", [], 1),
        ("<triplet> s <obj> x <subj> o <obj> r", [], 1),
        ("<triplet> s <subj> <obj> r <subj> o <obj> r", [("s", "r", "o")], 1),
    ],
)
def test_well_formed_pieces_are_read_and_the_others_counted(text, expected, malformed):
    assert parse(text) == (expected, malformed)
