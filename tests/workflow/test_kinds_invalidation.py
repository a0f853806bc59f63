"""Which jobs a kind re-runs: those whose option names it, and no others."""

import polars as pl
import pytest
from test_invalidation import EXTRACTS, matrix  # noqa: F401 (the rules as Snakemake reads them)

from secateur.pipeline import provenance

FOLDERS = ("datasets/formats", "graph/triples/extractors")


def codes(matrix) -> dict:  # noqa: F811
    """The code digest of every job, read anew from the files: (rule, wildcards) -> digest."""
    for remembered in (provenance.code_digest, provenance.imports, provenance._rules):
        remembered.cache_clear()
    return {
        (rule, own): next(text for text in params if text.startswith("code="))
        for rule, jobs in matrix.jobs().items()
        for own, params, _ in jobs
    }


@pytest.fixture
def rerun(matrix):  # noqa: F811
    """A function that adds a statement to a file of the library, and gives the jobs that have another digest for it."""
    kept = {}

    def edited(name: str) -> set:
        before, path = codes(matrix), matrix.root / "workflow/secateur" / name
        kept[path] = path.read_text(encoding="utf-8") if path.exists() else None
        path.write_text((kept[path] or '"""A kind."""\n') + "\nADDED = 1\n", encoding="utf-8")
        after = codes(matrix)
        return {(rule, dict(own).get("corpus")) for rule, own in before if after[rule, own] != before[rule, own]}

    yield edited
    for path, text in kept.items():
        path.unlink() if text is None else path.write_text(text, encoding="utf-8")
    codes(matrix)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_new_file_in_a_family_reruns_nothing(rerun, folder):
    assert rerun(f"{folder}/brand_new.py") == set()


def test_a_format_reruns_what_reads_files_of_it(rerun):
    found = {(rule, "locomo") for rule in ("prepare_corpus", "prepare_dataset")}
    assert rerun("datasets/formats/locomo.py") == found


def test_a_format_that_no_option_names_reruns_nothing(rerun):
    assert rerun("datasets/formats/tv.py") == set()


def test_what_a_format_imports_reruns_only_what_reads_files_of_it(rerun):
    assert {corpus for _, corpus in rerun("datasets/sentences.py")} == {"stem"}


def test_an_extractor_reruns_what_reads_texts_with_it(rerun):
    assert {rule for rule, _ in rerun("graph/triples/extractors/openie.py")} == EXTRACTS


@pytest.mark.parametrize("name", ["rebel", "llm", "imported"])
def test_an_extractor_that_no_variant_uses_reruns_nothing(rerun, name):
    assert rerun(f"graph/triples/extractors/{name}.py") == set()


OUTSIDE = """\
from dataclasses import dataclass
from secateur.graph.triples.surface import Found, triples_of
from secateur.pipeline.config.fields import key

@dataclass(frozen=True)
class Settings:
    relation: str = key("of every fact")

class FrontEnd:
    name, by_sentence = "outside", True

    def __init__(self, settings, ctx):
        self.identity = self.relation, = (settings.relation,)

    def __call__(self, texts, title):
        return Found(*triples_of([(t.split()[0], self.relation, t.split()[-1])] for t in texts))
"""


def test_code_outside_the_project_serves_as_an_extractor(project):
    package = project.root.parent / "elsewhere/mypackage"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "ends.py").write_text(OUTSIDE)
    option = "kind: mypackage.ends\nshards: 1\nblock: 8\nsettings: {relation: is tied to}\n"
    (project.root / "conf/extractor/mine.yaml").write_text(option)
    table = "results/toy_documents_smoke/triples/mine/0of1/triples.parquet"
    paths = f"{project.root / 'workflow'}:{project.root}:{package.parent}"
    asked = (table, "--config", "experiment=smoke", "overrides=[system.extractor=mine]")
    done = project.snakemake(*asked, PYTHONPATH=paths)
    assert done.returncode == 0, done.stdout + done.stderr
    assert set(pl.read_parquet(project.root / table)["relation"]) == {"is tied to"}

    (package / "ends.py").write_text(OUTSIDE + "\nADDED = 1\n")
    planned = project.snakemake(*asked, "-n", PYTHONPATH=paths).stdout
    assert "extract_triples" in planned and "prepare_corpus" not in planned
