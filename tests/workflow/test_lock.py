"""The lock: no question both chooses and proves."""

import os
import re
from pathlib import Path

import pytest
import yaml

from secateur.config import compose

ROOT = Path(__file__).parents[2]
LOCK = yaml.safe_load((ROOT / "data" / "lock.yaml").read_text(encoding="utf-8"))
SIDES = ("choose", "prove")


def test_files_that_choose_prove_nothing():
    files = {side: {f for of in LOCK[side].values() if isinstance(of, list) for f in of} for side in SIDES}
    assert files["choose"] and files["prove"] and not files["choose"] & files["prove"]


@pytest.mark.parametrize("side", SIDES)
def test_each_set_is_a_data_set_of_its_files(side):
    for name, of in LOCK[side].items():
        spec = compose.option(ROOT / "conf", "dataset", f"{name}_v2" if name == "medical" else name)
        assert not isinstance(of, list) or list(spec.files) == of


def test_a_set_on_both_sides_has_another_split_on_each():
    for name in LOCK["choose"].keys() & LOCK["prove"].keys():
        assert LOCK["choose"][name] != LOCK["prove"][name]


def test_the_second_look_is_fitted_on_sets_that_choose():
    source = (ROOT / "benchmarks" / "second_look.py").read_text(encoding="utf-8")
    sets = "".join(re.findall(r"^(?:SETS|ONE_ARTICLE) = (.*)", source, re.M))
    assert set(re.findall(r'"(.*?)"', sets)) == {"hotpotqa_train100", "2wikimultihopqa_train500", "stem_old"}
    assert {"hotpotqa_train100", "2wikimultihopqa_train500", "stem_old"} <= LOCK["choose"].keys()
    assert "test" not in LOCK["choose"]["stem_old"] and 'pl.col("split") != "test"' in source


def test_each_look_says_when_what_and_how_often():
    for look in LOCK["looks"]:
        assert look.keys() == {"when", "what", "sets", "times"}
        assert set(look["sets"]) <= set(LOCK["prove"]) and look["times"] > 0


@pytest.mark.skipif("SECATEUR_MIRROR" not in os.environ, reason="needs the questions: set SECATEUR_MIRROR")
def test_no_question_stands_on_both_sides():
    import gzip
    import json

    def questions(side):
        names = [file for of in LOCK[side].values() if isinstance(of, list) for file in of]
        for name in names:
            path = Path(os.environ["SECATEUR_MIRROR"]) / f"{name}.gz"
            yield from ((name, record["question"]) for record in json.loads(gzip.decompress(path.read_bytes())))

    choosing, proving = ({question: name for name, question in questions(side)} for side in SIDES)
    assert [(choosing[q], proving[q], q) for q in choosing.keys() & proving.keys()] == []
    assert len(choosing) == 600
