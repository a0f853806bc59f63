"""What several unit tests ask for."""

import shutil
from itertools import count
from pathlib import Path

import pytest
from tests.support.project import share_options

from secateur.planning.plan import variants
from secateur.stage import tracking

CONF = Path(__file__).parents[2] / "conf"


@pytest.fixture(scope="module")
def write(tmp_path_factory):
    """Write an experiment into a copy of conf/ and resolve it."""
    conf, numbers = tmp_path_factory.mktemp("root") / "conf", count()
    shutil.copytree(CONF, conf)
    share_options(conf.parent)

    def resolve(datasets="[stem]", systems="[rankers, graph_zsum]", axes="{}", exclude="[]", overrides=(), **more):
        text = f"title: T\ndatasets: {datasets}\nsystems: {systems}\naxes: {axes}\nexclude: {exclude}\n"
        text += "".join(f"{key}: {value}\n" for key, value in more.items())
        name = f"mine{next(numbers)}"
        (conf / "experiment" / f"{name}.yaml").write_text(text)
        return variants(conf, name, overrides)

    return resolve


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> Path:
    """A store with its tables made, once: that takes seconds."""
    folder = tmp_path_factory.mktemp("store")
    tracking.sync([], f"sqlite:///{folder}/mlflow.db")
    return folder / "mlflow.db"


@pytest.fixture
def client(tmp_path, store, monkeypatch):
    """An empty project with an empty store as its working directory, and a client of the store."""
    from mlflow.tracking import MlflowClient

    monkeypatch.chdir(tmp_path)
    uri = f"sqlite:///{tmp_path}/mlflow.db"  # MLflow remembers a relative one's file for as long as the process lives
    monkeypatch.setenv("MLFLOW_TRACKING_URI", uri)
    (tmp_path / "mlflow.db").write_bytes(store.read_bytes())
    return MlflowClient(uri)
