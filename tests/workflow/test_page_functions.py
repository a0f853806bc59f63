"""Every function, class and file that a page names is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARY = ROOT / "workflow" / "secateur"
ANY = {"conf/local/local.yaml", "conf/GROUP/OPTION.yaml", "conf/experiment/NAME.yaml"}  # of one machine; any name
FILE = re.compile(r"`((?:\w+/)+\w+\.py)(?::(\w+))?`((?:, `\w+`)*)")  # `graph/runs.py:segment`, `refine`


def missing(page: Path) -> list[str]:
    wrong = []
    for path, name, others in FILE.findall(page.read_text(encoding="utf-8")):
        file = next((folder / path for folder in (LIBRARY, ROOT) if (folder / path).exists()), None)
        if file is None:
            wrong += [] if path.endswith("/NAME.py") else [path]
            continue
        text = file.read_text(encoding="utf-8")
        names = [name, *re.findall(r"\w+", others)] if name else []
        wrong += [f"{path}:{n}" for n in names if not re.search(rf"^(?:(?:def|class) {n}\b|{n}\b.* =)", text, re.M)]
    return wrong


def test_every_function_that_a_page_names_is_there():
    found = {page.name: missing(page) for page in (ROOT / "docs").glob("*.md")}
    assert {page: names for page, names in found.items() if names} == {}


def test_every_file_that_a_page_names_is_there_or_written_by_the_page():
    gone = {}
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text(encoding="utf-8")
        prose = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
        named = set(re.findall(r"`((?:conf|data|envs|profiles|requirements|tests)/[\w./-]+\.\w+)`", prose))
        written = set(re.findall(r"^(?:```\w+ |# )(\S+/\S+)$", text, re.M)) | set(re.findall(r"Write `(\S+)`", text))
        gone[page.name] = sorted(name for name in named - written - ANY if not (ROOT / name).exists())
    assert {page: names for page, names in gone.items() if names} == {}


def test_a_name_that_is_gone_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("`graph/runs.py:segment`, `refine`, `gone` and `graph/nowhere.py:segment`")
    assert missing(page) == ["graph/runs.py:gone", "graph/nowhere.py"]
