"""Models prepared, loaded and compared: GGUF weights become a folder once, and SmolLM2 scores as one by one."""

import dataclasses
import json
import logging
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scripts import prepare_model

from secateur.config import compose
from secateur.core.errors import SecateurError
from secateur.ecs.reading.pairs import base_readings, pair_rows
from secateur.ecs.reading.template import Passage, Question, prompt
from secateur.models import prepare
from secateur.models.reader import load
from secateur.stage.contract import Context

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("SECATEUR_CACHE", ROOT / ".cache"))  # the conversion of 135M weights is kept
SMOLLM2 = compose.option(ROOT / "conf", "lm", "smollm2")


@pytest.fixture(scope="module")
def smollm2():
    return load(SMOLLM2, CACHE)


def test_smollm2_is_converted_once_and_has_a_chat_template_and_no_bos(smollm2, monkeypatch):
    assert smollm2.encoder.prefix == ()
    assert smollm2.tokenizer.chat_template
    monkeypatch.setattr(prepare, "_convert", None)
    assert load(SMOLLM2, CACHE).identity == smollm2.identity


def test_smollm2_scores_as_one_sequence_at_a_time(smollm2, ecs, naive):
    questions = [
        Question("q1", "What had the spaniel swallowed?", "half a tennis ball"),
        Question("q2", "When did it open?", "1994"),
        Question("q3", "What is the book called?", '"The Mill"'),
    ]
    passages = [
        Passage("p1", "She did. Swallowed half a tennis ball, but she's eating again.", "Mira", "14 March 2024"),
        Passage("p2", "“The Mill” opened in 1994 🙂", "Jonas"),
        Passage("p3", ""),
    ]
    smollm2.pack = 64
    pairs, cfg = [(q, p) for p in (2, 0, 1) for q in (1, 0, 2)], ecs()
    base = base_readings(smollm2, cfg, questions)
    for (q, p), row in zip(pairs, pair_rows(smollm2, cfg, questions, passages, pairs, base), strict=True):
        context, _ = prompt(questions[q], [passages[p]], cfg.layout)
        ids = smollm2.tokenizer(f"{context} {questions[q].answer}").input_ids
        start = len(smollm2.tokenizer(context).input_ids)
        said = naive(smollm2, ids)
        expected = sum(said[n - 1, ids[n]] for n in range(start, len(ids)))
        assert row["answer_logprob"] == pytest.approx(expected, abs=1e-4)
        prior = naive(smollm2, smollm2.tokenizer(prompt(questions[q], [], cfg.layout)[0]).input_ids)[-1]
        p_first = said[start - 1]
        assert row["kl"] == pytest.approx((np.exp(p_first) * (p_first - prior)).sum(), abs=1e-4)


def prepared(tmp_path, cache: Path, lm, in_process: bool) -> dict:
    """What the stage notes of a model."""
    out = SimpleNamespace(path=lambda name: tmp_path / f"{name}.json")
    cfg = SimpleNamespace(lm=lm, extra=SimpleNamespace(in_process=in_process))
    prepare_model.run(cfg, {}, out, Context(logging.getLogger("test"), cache, {}, "c1"))
    return json.loads((tmp_path / "model.json").read_text())


def test_the_stage_notes_which_weights_they_are(tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache/models").symlink_to(CACHE / "models")
    said = prepared(tmp_path, tmp_path / "cache", SMOLLM2, in_process=True)
    assert said["converted"] is True
    assert (CACHE / "models" / said["weights"] / "model.safetensors").is_file()


def test_the_weights_of_a_server_are_its_own(tmp_path):
    lm = SimpleNamespace(model=str(tmp_path))
    said = prepared(tmp_path, tmp_path, lm, in_process=False)
    assert (said["weights"], said["converted"]) == (None, False)
    with pytest.raises(SecateurError, match=r"no \*\.safetensors"):
        prepared(tmp_path, tmp_path, lm, in_process=True)


def test_a_conversion_that_fails_leaves_nothing(tmp_path, monkeypatch):
    (tmp_path / "weights.gguf").write_bytes(b"GGUF")

    def broken(path, folder):
        (folder / "half").write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(prepare, "_convert", broken)
    with pytest.raises(OSError, match="disk full"):
        prepare.prepare(str(tmp_path / "weights.gguf"), tmp_path / "cache")
    assert list((tmp_path / "cache/models").iterdir()) == []


@pytest.mark.parametrize("changed", ["model.safetensors", "tokenizer.json", "sha256.json"])
def test_converted_weights_that_were_changed_are_removed_by_name_and_made_anew(tmp_path, monkeypatch, caplog, changed):
    (tmp_path / "weights.gguf").write_bytes(b"GGUF")

    def convert(path, folder):
        for name in ("model.safetensors", "tokenizer.json"):
            (folder / name).write_bytes(b"what it says")

    monkeypatch.setattr(prepare, "_convert", convert)
    folder = Path(prepare.prepare(str(tmp_path / "weights.gguf"), tmp_path / "cache"))
    right = {path.name: path.read_bytes() for path in folder.iterdir()}
    (folder / changed).write_bytes(b"what it sayr")
    prepare._whole.cache_clear()  # another process
    prepare.prepare(str(tmp_path / "weights.gguf"), tmp_path / "cache")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == right
    assert f"{folder}: damaged ({changed})" in caplog.text


def test_a_file_in_pieces_is_known_by_the_digest_of_the_whole(tmp_path, monkeypatch):
    package = tmp_path / "pieces"
    package.mkdir()
    (package / "__init__.py").write_text(
        "from pathlib import Path\n"
        "def chunk_paths():\n    return [Path(__file__).with_name(n) for n in ('a.part', 'b.part')]\n"
    )
    (package / "a.part").write_bytes(b"GGUF one, ")
    (package / "b.part").write_bytes(b"and two")
    (tmp_path / "whole.gguf").write_bytes(b"GGUF one, and two")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "pieces", raising=False)
    digests = [
        prepare.weights_digest(address, tmp_path) for address in ("assemble:pieces", str(tmp_path / "whole.gguf"))
    ]
    assert digests[0] == digests[1]
    with prepare.gguf_file("assemble:pieces") as path:
        assert path.read_bytes() == b"GGUF one, and two"
    assert not path.exists()
    (package / "b.part").unlink()
    with pytest.raises(SecateurError, match=r"b\.part missing"):
        prepare.weights_digest("assemble:pieces", tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "assemble:no_such_package"}, r"package no_such_package is not installed.*Fix: install it"),
        ({"model": "nowhere/weights.gguf"}, r"nowhere/weights\.gguf missing.*Fix: "),
        ({"dtype": {"cpu": "float32"}}, r"lm\.dtype has entries for .*needs exactly cpu and cuda\. Fix: "),
    ],
)
def test_what_is_no_model_is_refused_with_a_fix(tmp_path, changes, message):
    with pytest.raises(SecateurError, match=message):
        load(dataclasses.replace(SMOLLM2, **changes), tmp_path)


def test_a_folder_is_used_as_it_is_and_known_by_its_weights_and_its_tokenizer(tiny_lm, tmp_path):
    def identity(folder: Path) -> str:
        return load(dataclasses.replace(SMOLLM2, model=str(folder), window=64), tmp_path / "c").identity

    folders = [tmp_path / str(n) for n in range(3)]
    for kind, folder in zip(("llama", "mistral", "llama"), folders, strict=True):
        lm = tiny_lm(kind)
        lm.model.save_pretrained(folder)
        lm.tokenizer.save_pretrained(folder)
    one, other, same = map(identity, folders)
    assert one == same != other
    assert not (tmp_path / "c/models").exists()
    before, tokenizer = prepare.weights_digest(str(folders[0]), tmp_path), folders[0] / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + " ")
    assert prepare.weights_digest(str(folders[0]), tmp_path) != before


def test_layers_of_an_unknown_kind_are_refused(tiny_lm):
    lm = tiny_lm("gemma3_text")
    lm._config = type("Config", (), {"sliding_window": None, "layer_types": ["linear_attention"]})()
    with pytest.raises(SecateurError, match="layers of type linear_attention cannot be scored"):
        lm.prefill([[5, 6]])


def test_a_model_that_ends_at_other_tokens_is_another_model(tiny_lm):
    one, other = tiny_lm(), tiny_lm()
    assert one.identity == other.identity
    lm = tiny_lm()
    lm.model.generation_config.bad_words_ids = [[3]]
    assert lm.identity != one.identity
