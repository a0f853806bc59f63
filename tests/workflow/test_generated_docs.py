"""Quoted tables agree with the kept figures, and the reference is generated for the site alone."""

from pathlib import Path

import pytest

from secateur.report import reference
from secateur.report.kept import kept_experiments

ROOT = Path(__file__).parents[2]
PAGES = reference.pages(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_generated_file_is_up_to_date(page):
    assert page.read_text(encoding="utf-8") == PAGES[page], f"{page.name} has drifted. Fix: make docs"


def test_reference_and_complete_figures_are_made_for_the_site_alone():
    made = set(reference.site_pages(ROOT))
    assert {"configuration", "experiments", "plug_ins", "tables", "figures/index", "figures/stem_old"} <= made
    assert [name for name in made if (ROOT / f"docs/{name}.md").exists()] == []


def test_every_experiment_and_every_kept_one_is_listed():
    made = reference.site_pages(ROOT)
    assert [
        path.stem
        for path in (ROOT / "conf/experiment").glob("*.yaml")
        if f"| `{path.stem}` |" not in made["experiments"]
    ] == []
    assert [name for name in kept_experiments(ROOT / "docs") if f"({name}.md)" not in made["figures/index"]] == []


def test_kept_figures_take_at_most_600_kb():
    assert sum(path.stat().st_size for path in (ROOT / "docs/results").rglob("*.*")) <= 600_000
