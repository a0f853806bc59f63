"""Rerank by a cross-encoder, which reads question and passage together.

Its z-score over a question's passages that were read, times a weight, is added to their ranking scores.
"""

from dataclasses import dataclass

import polars as pl

from secateur.core.fields import key


@dataclass(frozen=True)
class Settings:
    """Cross-encoder model, depth and score weight."""

    model: str = key("sentence-transformers cross-encoder: hub name, folder, or package:PACKAGE/PATH")
    top: int = key("passages read for each question", low=1)
    weight: float = key("weight of the z-score over the passages read in the ranking score", low=0)
    max_tokens: int = key("tokens of a question with a passage at most; longer pairs are cut", low=8, default=512)
    batch: int = key("pairs read at once", low=1, default=16)
    titles: bool = key("use the article's title as speaker of passages without one", default=True)


def rerank(settings: Settings, rankings: pl.DataFrame, questions: pl.DataFrame, passages: pl.DataFrame, cfg, ctx):
    """The rankings in their new order."""
    from secateur.contexts.piece import head_of, passage_text
    from secateur.ecs.rerank import pool_of, reranked

    shown = passages.select("passage_id", "text", head_of(settings.titles), "date")
    texts = {row[0]: passage_text(*row[1:]) for row in shown.iter_rows()}
    by_id = dict(questions.select("question_id", "text").iter_rows())
    pool = pool_of(rankings, settings.top)
    pairs = [(by_id[question], texts[passage]) for question, passage in pool.iter_rows()]
    scores = _scores(settings, list(dict.fromkeys(pairs)), ctx)
    values = pool.with_columns(value=pl.Series([scores[pair] for pair in pairs], dtype=pl.Float64))
    return reranked(rankings, values, settings.weight)


def _scores(settings: Settings, pairs: list[tuple[str, str]], ctx) -> dict[tuple[str, str], float]:
    """The model's score of each (question, passage), read in batches of similar length."""
    import torch

    from secateur.models.kernels import steady, usable

    steady()
    torch.set_num_threads(1)
    model = _loaded(settings, usable(ctx.device))
    ordered = sorted(pairs, key=lambda pair: (len(pair[0]) + len(pair[1]), pair))
    starts, scores = range(0, len(ordered), settings.batch), []
    for start in ctx.progress(starts, len(starts), "batches"):
        part = ordered[start : start + settings.batch]
        scores += model.predict(part, batch_size=settings.batch, show_progress_bar=False).tolist()
    return dict(zip(ordered, scores, strict=True))


def _loaded(settings: Settings, device: str):
    from sentence_transformers import CrossEncoder

    from secateur.core.errors import SecateurError
    from secateur.models.hub import fetched
    from secateur.models.locate import locate
    from secateur.models.prepare import loading, refuse_unaccounted

    fetched(settings.model, "reranker.spec.model")
    with loading(settings.model, "cross-encoder", "reranker.spec.model"):
        model = CrossEncoder(locate(settings.model), device=device, max_length=settings.max_tokens)
    refuse_unaccounted(model[0].auto_model, settings.model, "reranker.spec.model")
    model.tokenizer.split_special_tokens = True  # what looks like a control token within a text is text
    if model.num_labels != 1:
        raise SecateurError(
            f"reranker.spec.model {settings.model}: has {model.num_labels} scores for a pair, one is needed. "
            "Fix: name a cross-encoder for ranking."
        )
    return model
