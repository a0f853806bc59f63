"""Which jobs a kind re-runs: those whose option names it, and no others."""

import pytest
from test_invalidation import matrix  # noqa: F401 (the rules as Snakemake reads them)

from secateur.pipeline import provenance

FAMILIES = {"format": "datasets/formats"}


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


@pytest.mark.parametrize("folder", FAMILIES.values())
def test_a_new_file_in_a_family_reruns_nothing(rerun, folder):
    assert rerun(f"{folder}/brand_new.py") == set()


def test_a_format_reruns_what_reads_files_of_it(rerun):
    found = {(rule, "locomo") for rule in ("prepare_corpus", "prepare_dataset")}
    assert rerun("datasets/formats/locomo.py") == found


def test_a_format_that_no_option_names_reruns_nothing(rerun):
    assert rerun("datasets/formats/tv.py") == set()


def test_what_a_format_imports_reruns_only_what_reads_files_of_it(rerun):
    assert {corpus for _, corpus in rerun("datasets/sentences.py")} == {"stem"}
