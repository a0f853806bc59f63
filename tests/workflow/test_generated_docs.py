"""The generated pages say what the code declares."""

from pathlib import Path

import pytest

from secateur.report import reference

ROOT = Path(__file__).parents[2]
PAGES = reference.pages(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_generated_page_is_up_to_date(page):
    assert page.read_text(encoding="utf-8") == PAGES[page], f"{page.name} has drifted. Fix: make docs"


def test_configuration_kinds_tables_and_the_tables_of_results_are_generated():
    assert {str(page.relative_to(ROOT)) for page in PAGES} == {
        "docs/configuration.md",
        "docs/images/multihop.svg",
        "docs/kinds.md",
        "docs/results.md",
        "docs/slurm.md",
        "docs/tables.md",
    }
