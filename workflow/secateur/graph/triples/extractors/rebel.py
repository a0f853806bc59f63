"""Relation extraction by generation: REBEL (Huguet Cabot and Navigli, 2021), the extractor of AutoPrunedRetriever 2.2.

A sequence-to-sequence model writes the triples of a sentence as text, `<triplet> subject <subj> object <obj> relation`.
A subject may have several groups, and an output several subjects; `parse` reads them.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur.core.artifacts import file_digest
from secateur.core.fields import key
from secateur.graph.triples.surface import Extraction, Fact, normalised_triples
from secateur.models.admission import refuse_unread_weights
from secateur.models.hub import fetched
from secateur.models.kernels import usable
from secateur.models.locate import locate
from secateur.models.prepare import loading

__all__ = ["GPU", "FrontEnd", "Settings", "parse"]

GPU = True  # a model of 400 million parameters runs on each sentence
WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt")  # files of a model's folder that determine its output


def parse(text: str) -> tuple[list[Fact], int]:
    """(facts in order, number of malformed pieces) of one linearised output; never raises.

    >>> parse("<triplet> Rhine <subj> Basel <obj> flows through <subj> North Sea <obj> mouth <triplet> Basel")
    ([('Rhine', 'flows through', 'Basel'), ('Rhine', 'mouth', 'North Sea')], 1)
    """
    before, *triplets = text.split("<triplet>")
    facts, malformed = [], int(bool(before.strip()))
    for triplet in triplets:
        head, *groups = triplet.split("<subj>")
        for group in groups or [""]:
            tail, *relation = group.split("<obj>")
            fact = tuple(" ".join(part.split()) for part in (head, *relation, tail))
            if len(fact) == 3 and all(fact) and "<obj>" not in head:
                facts.append(fact)
            else:
                malformed += 1
    return facts, malformed


@dataclass(frozen=True)
class Settings:
    """The model and its beam search."""

    model: str = key("folder or hub id")
    batch: int = key("sentences per batch, sorted by length", low=1)
    beams: int = key("beams", low=1, high=64)
    length_penalty: float = key("exponent of the length by which a beam's score is divided")
    max_tokens: int = key("longest input and longest output, tokens", low=8)


class FrontEnd:
    """A REBEL model as a front end; loaded at the first call, on a GPU if there is one."""

    name, by_sentence = "rebel", True

    def __init__(self, cfg: Settings, ctx) -> None:
        self.cfg, self.device, self._model = cfg, ctx.device, None
        generation = (cfg.beams, cfg.length_penalty, cfg.max_tokens, cfg.batch)
        self.identity = (*_weights(locate(cfg.model)), *generation, ctx.device)

    def __call__(self, texts: Sequence[str], title: str | None) -> Extraction:
        """The triples of each text by itself; the title is ignored."""
        if self._model is None:
            self._tokenizer, self._model = _load(locate(self.cfg.model), self.device)
            self.device = self._model.device
        outputs, truncated = self._generate(texts)
        parsed = [parse(output) for output in outputs]
        triples, counts = normalised_triples((facts for facts, _ in parsed), texts)
        counts["malformed_pieces"] = sum(malformed for _, malformed in parsed)
        counts["unparsed_passages"] = sum(not facts for facts, _ in parsed)
        counts["cut_passages"] = truncated
        return Extraction(triples, Counter({name: n for name, n in counts.items() if n}))

    def _generate(self, texts: Sequence[str]) -> tuple[list[str], int]:
        """(best beam of each text, number of truncated texts)."""
        lengths = [len(ids) for ids in self._tokenizer(list(texts))["input_ids"]]
        order = sorted(range(len(texts)), key=lambda n: lengths[n])
        outputs = [""] * len(texts)
        for start in range(0, len(order), self.cfg.batch):
            part = order[start : start + self.cfg.batch]
            for n, output in zip(part, self._batch([texts[n] for n in part]), strict=True):
                outputs[n] = output
        return outputs, sum(length > self.cfg.max_tokens for length in lengths)

    def _batch(self, texts: list[str]) -> list[str]:
        """Outputs of one padded batch, without begin, end and padding tokens."""
        import torch

        inputs = self._tokenizer(
            texts, padding=True, truncation=True, max_length=self.cfg.max_tokens, return_tensors="pt"
        ).to(self.device)
        with torch.inference_mode():
            outputs = self._model.generate(
                input_ids=inputs["input_ids"],
                attention_mask=inputs["attention_mask"],
                max_new_tokens=self.cfg.max_tokens,
                num_beams=self.cfg.beams,
                length_penalty=self.cfg.length_penalty,
                do_sample=False,
            )
        config, tokenizer = self._model.config, self._tokenizer
        special = {config.bos_token_id, config.eos_token_id, config.pad_token_id, config.decoder_start_token_id}
        tokens = [[token for token in row if token not in special] for row in outputs.tolist()]
        return tokenizer.batch_decode(tokens, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def _weights(model: str) -> list[str]:
    """Identity of a model: the digests of its files, or its hub id."""
    folder = Path(model)
    files = sorted(path for pattern in WEIGHTS for path in folder.glob(pattern)) if folder.is_dir() else []
    return [file_digest(path) for path in files] or [model]


def _load(model: str, device: str):
    """(tokenizer, model) in fp32; raises SecateurError if there is no sequence-to-sequence model."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    fetched(model, "extractor.settings.model")
    with loading(model, "sequence-to-sequence model", "extractor.settings.model"):
        tokenizer = AutoTokenizer.from_pretrained(model, split_special_tokens=True)
        settings = {"dtype": torch.float32, "output_loading_info": True}
        network, info = AutoModelForSeq2SeqLM.from_pretrained(model, **settings)
    refuse_unread_weights(model, info, "extractor.settings.model")
    return tokenizer, network.eval().to(usable(device))
