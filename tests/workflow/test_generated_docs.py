"""Quoted tables agree with the kept figures, and the reference is generated for the site alone."""

from pathlib import Path

import pytest

from publication import reference
from secateur.report.kept import kept_experiments
from secateur.verification.verify import drifted

ROOT = Path(__file__).parents[2]
PAGES = reference.pages(ROOT)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_generated_file_is_up_to_date(page):
    assert page.read_text(encoding="utf-8") == PAGES[page], f"{page.name} has drifted. Fix: make docs"


def test_reference_and_complete_figures_are_made_for_the_site_alone_and_list_every_experiment():
    made = reference.site_pages(ROOT)
    assert {"configuration", "experiments", "plug_ins", "tables", "figures/index", "figures/stem_old"} <= set(made)
    assert [name for name in made if (ROOT / f"docs/{name}.md").exists()] == []
    experiments = [path.stem for path in (ROOT / "conf/experiment").glob("*.yaml")]
    assert [name for name in experiments if f"| `{name}` |" not in made["experiments"]] == []
    assert [name for name in kept_experiments(ROOT / "docs") if f"({name}.md)" not in made["figures/index"]] == []


def test_each_number_of_the_results_agrees_with_what_is_kept_or_says_why_it_is_not():
    wrong = {line: problems for line, problems in drifted(ROOT) if problems}
    assert wrong == {}, "Fix: correct the page or its comments, then make docs"
