"""Kinds are found by their files, imported by name, and refused with a message one can act on."""

import subprocess
import sys
from pathlib import Path

import pytest

from secateur.config import plugins
from secateur.core.errors import SecateurError
from secateur.core.fields import ConfigError
from secateur.stage import provenance

GOOD = '''"""A kind."""
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


# --- names ---------------------------------------------------------------------------------------


def test_a_file_is_a_kind_and_is_not_imported_to_be_listed(family):
    family(bm25="raise RuntimeError('imported')", dense=GOOD, _shared=GOOD)
    assert plugins.names("toy") == ("bm25", "dense")
    assert plugins.module_of("toy", "bm25") == "toyfamily.rankers.bm25"
    assert not [name for name in sys.modules if name.startswith("toyfamily")]


def test_a_family_without_a_folder_has_no_kinds(monkeypatch):
    monkeypatch.setitem(plugins.FAMILIES, "later", plugins.Family("secateur.ranking.nowhere", ("rank",)))
    assert plugins.names("later") == ()
    with pytest.raises(SecateurError, match="use one of none"):
        plugins.load("later", "bm25")


def test_an_unknown_kind_is_refused_with_the_nearest_and_all_others(family):
    family(bm25=GOOD, dense=GOOD)
    with pytest.raises(SecateurError, match=r"toy 'bm52' is unknown; did you mean 'bm25'\?.*use one of bm25, dense"):
        plugins.load("toy", "bm52")


def test_listing_every_family_imports_no_kind_and_nothing_heavy():
    code = """
import sys
from secateur.config import plugins
found = [(family, name) for family in plugins.FAMILIES for name in plugins.names(family)]
assert found
print([name for name in sys.modules if name.split(".")[0] in ("torch", "spacy", "transformers", "httpx", "polars")])
print([name for family, name in found if plugins.module_of(family, name) in sys.modules])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n[]\n"


# --- modules -------------------------------------------------------------------------------------


def test_a_kind_that_raises_when_it_is_imported_is_named_with_its_file_and_error(family):
    folder = family(bad="import numpy_of_tomorrow")
    with pytest.raises(SecateurError) as caught:
        plugins.load("toy", "bad")
    assert str(folder / "toyfamily/rankers/bad.py") in str(caught.value)
    assert "ModuleNotFoundError: No module named 'numpy_of_tomorrow'" in str(caught.value)
    assert "inside its functions" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no Settings, has no rank."),
        (GOOD.replace("class Settings", "class Setting"), "has no Settings."),
        (GOOD.replace("(frozen=True)", ""), "has a Settings that is no frozen dataclass."),
        (GOOD.replace("def rank", "def rnak"), "has no rank."),
    ],
)
def test_what_a_kind_lacks_is_said_at_once(family, text, said):
    family(bad=text)
    with pytest.raises(SecateurError) as caught:
        plugins.load("toy", "bad")
    assert said in str(caught.value)
    assert "Fix: a plug-in of this family has a frozen dataclass Settings, rank." in str(caught.value)


def test_a_dotted_name_is_a_module_of_other_code(family):
    family(bm25=GOOD, **{"mypackage/__init__": "", "mypackage/ranker": GOOD})
    assert plugins.load("toy", "mypackage.ranker").__name__ == "mypackage.ranker"
    assert plugins.settings("toy", {"kind": "mypackage.ranker", "k1": 1}, "conf/x/y").k1 == 1.0


def test_a_dotted_name_that_ends_like_a_kind_of_the_family_is_another(family):
    family(bm25=GOOD, **{"mypackage/__init__": "", "mypackage/bm25": GOOD + "\nMINE = True\n"})
    assert plugins.load("toy", "mypackage.bm25").MINE
    assert not hasattr(plugins.load("toy", "bm25"), "MINE")


def test_a_dotted_name_that_is_nowhere_says_what_is_missing(family):
    family(**{"mypackage/__init__": ""})
    with pytest.raises(SecateurError, match=r"no module mypackage\.nothing on the Python path.*PYTHONPATH"):
        plugins.load("toy", "mypackage.nothing")


def test_a_folder_that_hides_a_kind_is_refused(family):
    family(bm25=GOOD, **{"toyfamily/rankers/bm25/__init__": GOOD})
    with pytest.raises(SecateurError, match=r"hides bm25\.py"):
        plugins.load("toy", "bm25")


@pytest.mark.parametrize(
    ("family", "name"), [(family, name) for family in plugins.FAMILIES for name in plugins.names(family)]
)
def test_every_kind_of_the_project_is_one_and_says_what_it_is(family, name):
    assert plugins.load(family, name).__doc__


def test_no_kind_of_the_project_imports_heavy_libraries_with_itself():
    code = """
import sys
from secateur.config import plugins
for family in plugins.FAMILIES:
    for name in plugins.names(family):
        plugins.load(family, name)
print([name for name in sys.modules if name in ("torch", "spacy", "transformers", "httpx", "sklearn", "faiss", "scipy")])
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


# --- settings ------------------------------------------------------------------------------------


def test_settings_are_read_strictly_with_every_problem_at_once(family):
    family(bm25=GOOD)
    with pytest.raises(ConfigError) as caught:
        plugins.settings("toy", {"kind": "bm25", "title": 1, "k2": 3}, "conf/scorer/mine", "scorer.bm")
    said = str(caught.value)
    assert said.startswith("conf/scorer/mine.yaml: 3 problems: unknown key scorer.bm.k2; did you mean 'k1'?")
    assert "key scorer.bm.k1 missing" in said
    assert "scorer.bm.title is 1 (int), a value of type bool is needed" in said


def test_settings_have_ranges_and_defaults(family):
    family(bm25=GOOD)
    assert not plugins.settings("toy", {"kind": "bm25", "k1": 0.9}, "conf/x/y").title
    with pytest.raises(ConfigError, match=r"toy\.k1 is -1\.0, allowed: \[0, inf\]"):
        plugins.settings("toy", {"kind": "bm25", "k1": -1}, "conf/x/y")


def test_a_name_alone_is_a_kind_without_settings_of_its_own(family):
    family(bm25=GOOD.replace("low=0)", "low=0, default=1.2)"))
    assert plugins.settings("toy", "bm25", "conf/x/y").k1 == 1.2


@pytest.mark.parametrize("spec", [None, 3, {}, {"k1": 1}])
def test_a_value_that_names_no_kind_is_refused(family, spec):
    with pytest.raises(ConfigError, match="a plug-in's name or a mapping with `kind` is needed"):
        plugins.settings("toy", spec, "conf/x/y")


def test_an_unknown_kind_is_refused_with_the_option_that_names_it(family):
    family(bm25=GOOD)
    with pytest.raises(ConfigError, match=r"^conf/x/y\.yaml: toy: toy 'bm' is unknown.*did you mean 'bm25'"):
        plugins.settings("toy", "bm", "conf/x/y")


def test_the_kinds_that_a_value_names():
    assert plugins.names_in("bm25") == plugins.names_in({"kind": "bm25", "of": "dense"}) == ("bm25",)
    assert plugins.names_in({"a": {"kind": "bm25"}, "b": {"kind": "dense"}, "c": "bm25"}) == ("bm25", "dense")
    assert plugins.names_in(None) == ()


def test_a_kind_s_settings_may_name_further_kinds():
    nested = {"z": {"kind": "zsum", "lexical": {"kind": "tfidf"}, "weights": {"blind": [-1.6, 0.4]}, "drop": ["a"]}}
    assert plugins.names_in(nested) == plugins.names_in(nested["z"]) == ("zsum", "tfidf")


# --- the code digest -----------------------------------------------------------------------------


@pytest.fixture
def digest(project):
    """The digest of a rule of a copy of the project, read anew."""

    def read(*named: str) -> str:
        for remembered in (provenance.code_digest, provenance.imports, provenance._rules):
            remembered.cache_clear()
        return provenance.code_digest("build_runs", project.root, named)

    return read


def test_a_digest_follows_a_kind_outside_the_library_and_what_it_imports(family, digest):
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


def test_a_digest_follows_a_kind_into_the_library(family, digest, project):
    family(**{"mypackage/__init__": "", "mypackage/ranker": "def rank():\n    from secateur.models import word_pieces"})
    without, before = digest(), digest("mypackage.ranker")
    with (project.root / "workflow/secateur/models/word_pieces.py").open("a") as file:
        file.write("\nADDED = 1\n")
    assert digest() == without
    assert digest("mypackage.ranker") != before


def test_a_digest_of_a_kind_that_is_nowhere_is_refused(digest):
    with pytest.raises(SecateurError, match=r"mypackage\.nothing: no such module"):
        digest("mypackage.nothing")
