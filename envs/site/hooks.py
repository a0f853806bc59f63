"""What the site has beyond `docs`: the README as its first page, the reference, all kept figures and their leaderboard, a notebook, a report."""

import json
import re
from pathlib import Path

from mkdocs.structure.files import File

from publication.kept_board import kept_board
from publication.reference import site_pages
from secateur.config.compose import names, option

ROOT = Path(__file__).parents[2]
SAMPLE = "# A report\n\nWhat `make run` wrote for `quickstart`: one HTML file. [Open it](report.html).\n"
NO_SAMPLE = "# A report\n\n`make site` adds the report of `quickstart` here.\n"


def on_files(files, config):
    """Adds the pages that are made, not written."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")  # it stands above the pages
    report = ROOT / "results/experiments/quickstart/report.html"
    pages = {"index": readme, "notebook": notebook(ROOT / "docs/library.ipynb"), **site_pages(ROOT)}
    pages["sample"] = SAMPLE if report.exists() else NO_SAMPLE
    for name, text in pages.items():
        files.append(File.generated(config, f"{name}.md", content=text))
    claimed = option(ROOT / "conf", "eval", "default").claim
    readers = [option(ROOT / "conf", "system", "beam").reader, *names(ROOT / "conf", "lm")]
    board = kept_board(ROOT / "docs", claimed, readers)
    files.append(File.generated(config, "leaderboard.html", content=board))
    if report.exists():
        files.append(File.generated(config, "report.html", abs_src_path=str(report)))
    return files


def notebook(path):
    """A notebook as Markdown, with the text that its cells printed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        parts.append(source if cell["cell_type"] == "markdown" else f"```python\n{source}\n```")
        parts += [f"```text\n{''.join(out['text'])}```" for out in cell.get("outputs", ()) if "text" in out]
    return "\n\n".join([*parts, f"[Download it]({path.name})", ""])


def on_page_markdown(markdown, page, config, files):
    """Shows a listing's file name as its title."""
    return re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', markdown, flags=re.M)
