"""Plug-ins are found by their files, imported by name, and refused with a message one can act on."""

import subprocess
import sys
from pathlib import Path

import pytest

from secateur.config import code as source_code
from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.stage import provenance

GOOD = '''"""A plug-in."""
from dataclasses import dataclass

from secateur.core.fields import key


@dataclass(frozen=True)
class Settings:
    """Its settings."""

    k1: float = key("saturation", low=0)
    title: bool = key("with the title", default=False)


def rank():
    """Rank."""
'''


@pytest.fixture
def family(tmp_path, monkeypatch):
    """A function that writes a family `toy` of the given files, and packages beside it by a path."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setitem(plugins.FAMILIES, "toy", plugins.Family("toyfamily.rankers", ("rank",)))
    before = set(sys.modules)

    def write(**files: str) -> Path:
        for name, text in {"toyfamily/__init__": "", "toyfamily/rankers/__init__": ""}.items() | files.items():
            path = tmp_path / ("" if "/" in name else "toyfamily/rankers") / f"{name}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return tmp_path

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_a_file_is_a_plug_in_and_is_not_imported_to_be_listed(family):
    family(bm25="raise RuntimeError('imported')", dense=GOOD, _shared=GOOD)
    assert plugins.names("toy") == ("bm25", "dense")
    assert plugins.module_of("toy", "bm25") == "toyfamily.rankers.bm25"
    assert not [name for name in sys.modules if name.startswith("toyfamily")]


def test_a_family_without_a_folder_has_no_plug_ins(monkeypatch):
    monkeypatch.setitem(plugins.FAMILIES, "later", plugins.Family("secateur.ranking.nowhere", ("rank",)))
    assert plugins.names("later") == ()
    with pytest.raises(SecateurError, match="use one of none"):
        plugins.load("later", "bm25")


@pytest.mark.parametrize(
    ("files", "name", "message"),
    [
        ({"dense": GOOD}, "bm52", r"toy 'bm52' is unknown; did you mean 'bm25'\?.*use one of bm25, dense"),
        ({"mypackage/__init__": ""}, "mypackage.nothing", r"no module mypackage\.nothing on the Python.*PYTHONPATH"),
        ({"toyfamily/rankers/bm25/__init__": GOOD}, "bm25", r"hides bm25\.py"),
        *[
            ({"bad": text}, "bad", f"{lack}.*Fix: a plug-in of this family has a frozen dataclass Settings, rank")
            for text, lack in (
                ("", r"has no Settings, has no rank\."),
                (GOOD.replace("(frozen=True)", ""), r"has a Settings that is no frozen dataclass\."),
            )
        ],
    ],
)
def test_what_is_no_plug_in_is_refused_with_what_it_lacks(family, files, name, message):
    family(bm25=GOOD, **files)
    with pytest.raises(SecateurError, match=message):
        plugins.load("toy", name)


def test_heavy_libraries_are_imported_neither_to_list_plug_ins_nor_to_load_them():
    code = """
import sys
from secateur.config import plugins
found = [(family, name) for family in plugins.FAMILIES for name in plugins.names(family)]
assert found
heavy = {"torch", "spacy", "transformers", "httpx"}
print((heavy | {"polars"}).intersection(sys.modules))
print([name for family, name in found if plugins.module_of(family, name) in sys.modules])
assert all(plugins.load(*one).__doc__ for one in found)
print((heavy | {"sklearn", "faiss", "scipy"}).intersection(sys.modules))
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "set()\n[]\nset()\n"


def test_a_dotted_name_is_a_module_of_other_code_even_if_it_ends_like_a_plug_in_of_the_family(family):
    family(bm25=GOOD, **{"mypackage/__init__": "", "mypackage/bm25": GOOD + "\nMINE = True\n"})
    assert plugins.load("toy", "mypackage.bm25").MINE
    assert not hasattr(plugins.load("toy", "bm25"), "MINE")
    assert plugins.settings("toy", {"kind": "mypackage.bm25", "k1": 1}, "conf/x/y").k1 == 1.0


def test_settings_are_read_strictly_with_every_problem_at_once(family):
    family(bm25=GOOD)
    with pytest.raises(ConfigError) as caught:
        plugins.settings("toy", {"kind": "bm25", "title": 1, "k2": 3}, "conf/scorer/mine", "scorer.bm")
    said = str(caught.value)
    assert said.startswith("conf/scorer/mine.yaml: 3 problems: unknown key scorer.bm.k2; did you mean 'k1'?")
    assert "key scorer.bm.k1 missing" in said
    assert "scorer.bm.title is 1 (int), a value of type bool is needed" in said


def test_settings_have_defaults(family):
    family(bm25=GOOD, preset=GOOD.replace("low=0)", "low=0, default=1.2)"))
    assert not plugins.settings("toy", {"kind": "bm25", "k1": 0.9}, "conf/x/y").title
    assert plugins.settings("toy", "preset", "conf/x/y").k1 == 1.2


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"kind": "bm25", "k1": -1}, r"toy\.k1 is -1\.0, allowed: \[0, inf\]"),
        ("bm", r"^conf/x/y\.yaml: toy: toy 'bm' is unknown.*did you mean 'bm25'"),
        *[(spec, "a plug-in's name or a mapping with `kind` is needed") for spec in (None, 3, {}, {"k1": 1})],
    ],
)
def test_settings_that_cannot_be_read_are_refused_with_their_place(family, spec, message):
    family(bm25=GOOD)
    with pytest.raises(ConfigError, match=message):
        plugins.settings("toy", spec, "conf/x/y")


def test_the_plug_ins_that_a_value_names():
    assert plugins.names_in("bm25") == plugins.names_in({"kind": "bm25", "of": "dense"}) == ("bm25",)
    assert plugins.names_in({"a": {"kind": "bm25"}, "b": {"kind": "dense"}, "c": "bm25"}) == ("bm25", "dense")
    assert plugins.names_in(None) == ()
    nested = {"z": {"kind": "zsum", "lexical": {"kind": "tfidf"}, "weights": {"blind": [-1.6, 0.4]}, "drop": ["a"]}}
    assert plugins.names_in(nested) == plugins.names_in(nested["z"]) == ("zsum", "tfidf")


@pytest.fixture
def digest(project):
    def read(*named: str) -> str:
        for remembered in (provenance.code_digest, source_code.imports, provenance._rules):
            remembered.cache_clear()
        return provenance.code_digest("build_runs", project.root, named)

    return read


def test_a_digest_follows_a_plug_in_outside_the_library_and_what_it_imports(family, digest):
    files = {"mypackage/__init__": "", "mypackage/other": "", "mypackage/helper": "", "mypackage/bad": "raise OSError"}
    files["mypackage/ranker"] = "from . import helper\nimport secateur.models.words\nraise RuntimeError('executed')"
    root = family(**files)
    before = digest("mypackage.ranker")
    assert before != digest() != digest("mypackage.bad")
    for name in ("other", "bad"):
        (root / f"mypackage/{name}.py").write_text("ADDED = 1")
        assert digest("mypackage.ranker") == before
    for name in ("ranker", "helper", "__init__"):
        (root / f"mypackage/{name}.py").write_text("ADDED = 1\nfrom mypackage import helper\n")
        assert digest("mypackage.ranker") != before
        before = digest("mypackage.ranker")


def test_a_digest_follows_a_plug_in_into_the_library(family, digest, project):
    family(**{"mypackage/__init__": "", "mypackage/ranker": "def rank():\n    from secateur.models import word_pieces"})
    without, before = digest(), digest("mypackage.ranker")
    with (project.root / "workflow/secateur/models/word_pieces.py").open("a") as file:
        file.write("\nADDED = 1\n")
    assert digest() == without
    assert digest("mypackage.ranker") != before


def test_a_digest_of_a_plug_in_that_is_nowhere_is_refused(digest):
    with pytest.raises(SecateurError, match=r"mypackage\.nothing: no such module"):
        digest("mypackage.nothing")
