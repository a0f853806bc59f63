"""What several unit tests ask for."""

import shutil
from itertools import count
from pathlib import Path

import pytest

from secateur.pipeline.plan import variants

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Write an experiment into a copy of conf/ and resolve it."""
    conf, numbers = tmp_path_factory.mktemp("root") / "conf", count()
    shutil.copytree(CONF, conf)

    def resolve(datasets="[stem]", systems="[rankers, secateur]", axes="{}", exclude="[]", overrides=(), **more):
        text = f"title: T\ndatasets: {datasets}\nsystems: {systems}\naxes: {axes}\nexclude: {exclude}\n"
        text += "".join(f"{key}: {value}\n" for key, value in more.items())
        name = f"mine{next(numbers)}"
        (conf / "experiment" / f"{name}.yaml").write_text(text)
        return variants(conf, name, overrides)

    return resolve
