"""Relation extraction by generation: REBEL (Huguet Cabot and Navigli, 2021), the extractor of AutoPrunedRetriever 2.2.

A sequence-to-sequence model writes the triples of a sentence as text, `<triplet> subject <subj> object <obj> relation`,
with several groups for one subject and several subjects in a row; a small parser reads them back.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from secateur.core.artifacts import file_digest
from secateur.core.errors import SecateurError
from secateur.core.fields import key
from secateur.graph.triples.surface import Fact, Found, triples_of
from secateur.models.locate import locate

__all__ = ["GPU", "FrontEnd", "Settings", "parse"]

GPU = True  # it reads a model of 400 million parameters for each sentence
WEIGHTS = ("*.safetensors", "*.bin", "*.json", "*.txt")  # what of a model's folder decides its output


def parse(text: str) -> tuple[list[Fact], int]:
    """(facts in the order written, pieces that are malformed) of one linearised output; never raises.

    >>> parse("<triplet> Rhine <subj> Basel <obj> flows through <subj> North Sea <obj> mouth <triplet> Basel")
    ([('Rhine', 'flows through', 'Basel'), ('Rhine', 'mouth', 'North Sea')], 1)
    """
    before, *triplets = text.split("<triplet>")
    facts, malformed = [], int(bool(before.strip()))
    for triplet in triplets:
        head, *groups = triplet.split("<subj>")
        for group in groups or [""]:
            tail, *relation = group.split("<obj>")
            parts = tuple(" ".join(part.split()) for part in (head, *relation, tail))
            if len(parts) == 3 and all(parts) and "<obj>" not in head:
                facts.append(parts)
            else:
                malformed += 1
    return facts, malformed


@dataclass(frozen=True)
class Settings:
    """The model, and how it writes."""

    model: str = key("folder or hub id")
    batch: int = key("sentences of similar length, padded together", low=1)
    beams: int = key("beams", low=1, high=64)
    length_penalty: float = key("exponent of the length that divides a beam's score")
    max_tokens: int = key("window of a sentence and of its output", low=8)


class FrontEnd:
    """A model of this kind as a front end; loaded when it is first needed, on a GPU where there is one."""

    name, by_sentence = "rebel", True

    def __init__(self, cfg: Settings, ctx) -> None:
        self.cfg, self.device, self._model = cfg, ctx.device, None
        generation = (cfg.beams, cfg.length_penalty, cfg.max_tokens, cfg.batch)
        self.identity = (*_weights(locate(cfg.model)), *generation, ctx.device)

    def __call__(self, texts: Sequence[str], title: str | None) -> Found:
        """The triples of each text by itself; the title is not read."""
        if self._model is None:
            self._tokenizer, self._model = _load(locate(self.cfg.model), self.device)
            self.device = self._model.device
        outputs, cut = self._generate(texts)
        parsed = [parse(output) for output in outputs]
        triples, counts = triples_of(facts for facts, _ in parsed)
        counts["malformed_pieces"] = sum(malformed for _, malformed in parsed)
        counts["unparsed_passages"] = sum(not facts for facts, _ in parsed)
        counts["cut_passages"] = cut
        return Found(triples, Counter({name: n for name, n in counts.items() if n}))

    def _generate(self, texts: Sequence[str]) -> tuple[list[str], int]:
        """The best beam of each text, in the texts' order, and how many texts were longer than the window."""
        lengths = [len(ids) for ids in self._tokenizer(list(texts))["input_ids"]]
        order = sorted(range(len(texts)), key=lambda n: lengths[n])
        written = [""] * len(texts)
        for start in range(0, len(order), self.cfg.batch):
            part = order[start : start + self.cfg.batch]
            for n, output in zip(part, self._batch([texts[n] for n in part]), strict=True):
                written[n] = output
        return written, sum(length > self.cfg.max_tokens for length in lengths)

    def _batch(self, texts: list[str]) -> list[str]:
        """The outputs of one padded batch, without the marks of begin, end and padding."""
        import torch

        read = self._tokenizer(
            texts, padding=True, truncation=True, max_length=self.cfg.max_tokens, return_tensors="pt"
        ).to(self.device)
        with torch.inference_mode():
            outputs = self._model.generate(
                input_ids=read["input_ids"],
                attention_mask=read["attention_mask"],
                max_new_tokens=self.cfg.max_tokens,
                num_beams=self.cfg.beams,
                length_penalty=self.cfg.length_penalty,
                do_sample=False,
            )
        config, tokenizer = self._model.config, self._tokenizer
        marks = {config.bos_token_id, config.eos_token_id, config.pad_token_id, config.decoder_start_token_id}
        kept = [[token for token in row if token not in marks] for row in outputs.tolist()]
        return tokenizer.batch_decode(kept, skip_special_tokens=False, clean_up_tokenization_spaces=False)


def _weights(model: str) -> list[str]:
    """What tells a model apart: the digests of its files, or its address on a hub."""
    folder = Path(model)
    files = sorted(path for pattern in WEIGHTS for path in folder.glob(pattern)) if folder.is_dir() else []
    return [file_digest(path) for path in files] or [model]


def _load(model: str, device: str):
    """(tokenizer, model) in fp32. Raises SecateurError where the address holds no sequence-to-sequence model."""
    import torch
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(model)
        network = AutoModelForSeq2SeqLM.from_pretrained(model, dtype=torch.float32).eval()
        return tokenizer, network.to("cuda" if device == "cuda" and torch.cuda.is_available() else "cpu")
    except (OSError, ValueError) as error:
        raise SecateurError(
            f"extractor.settings.model {model}: cannot be loaded as a sequence-to-sequence model "
            f"({str(error).strip().splitlines()[0]}). Fix: name a folder with such a model and its tokenizer, or a hub "
            "id that is in the local cache or can be downloaded (HF_HUB_OFFLINE=0)."
        ) from error
