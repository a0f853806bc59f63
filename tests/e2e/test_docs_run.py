"""What the pages show is what a reader gets: their Python runs, their links lead somewhere."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)


@pytest.mark.parametrize("page", ["README.md", "docs/library.md", "docs/methods.md"])
def test_the_python_of_a_page_runs(smoke_cache, monkeypatch, tmp_path, capsys, page):
    monkeypatch.chdir(tmp_path)
    space: dict = {}
    found = blocks(page)
    assert found
    for block in found:
        exec(block, space)
    printed = capsys.readouterr().out.strip()
    assert printed
    if page == "docs/library.md":
        _, _, shown, *_ = (ROOT / page).read_text(encoding="utf-8").partition("```python\n")[2].split("```\n")
        assert printed.startswith(shown.strip())


def test_the_notebook_runs(smoke_cache, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    cells = json.loads((ROOT / "docs/library.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert [one.strip() for one in code[:-1]] == [block.strip() for block in blocks("docs/library.md")]
    space: dict = {}
    for one in code:
        exec(one, space)
    assert space["found"].tokens <= 64


@pytest.mark.parametrize("page", ["README.md", *sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))])
def test_every_link_of_a_page_leads_somewhere(page):
    path = ROOT / page
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        file, _, part = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        assert goal.exists(), f"{page}: {target}"
        if part and goal.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", goal.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower().replace("`", "")).strip().replace(" ", "-") for head in heads}
            assert part in slugs, f"{page}: {target}; there are {sorted(slugs)}"


@pytest.mark.slow
def test_the_pages_make_a_site_and_no_link_of_it_leads_nowhere(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", "envs/site/mkdocs.yml"]
    done = subprocess.run([*command, "--site-dir", tmp_path / "site"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "What should a language model read?" in (tmp_path / "site/index.html").read_text(encoding="utf-8")
    listing = (tmp_path / "site/plugins.html").read_text(encoding="utf-8")
    assert '<span class="filename">conf/dataset/mine.yaml</span>' in listing
    pages = {path.stem for path in (ROOT / "docs").glob("*.md")} | {"configuration", "plug_ins", "tables", "notebook"}
    assert pages <= {path.stem for path in (tmp_path / "site").glob("*.html")}
