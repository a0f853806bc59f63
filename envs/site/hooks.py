"""What the site shows otherwise than the repository: the README as its first page, a file's name as its listing's title."""

import re
from pathlib import Path

from mkdocs.structure.files import File

README = Path(__file__).parents[2] / "README.md"


def on_files(files, config):
    """The README stands above the folder of pages, so its links are a folder too long."""
    text = README.read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=text))
    return files


def on_page_markdown(markdown, page, config, files):
    return re.sub(r"^```(\w+) (\S+)$", r'```\1 title="\2"', markdown, flags=re.M)
