"""A folder of documents becomes a memory whose answers say where they stand."""

from pathlib import Path
from tempfile import TemporaryDirectory

import secateur

MINUTES = """# Minutes

## Mill

Alder Ltd bought the Finch mill in 2021.
The price was not
disclosed.

## Weather

It rained.
"""

with TemporaryDirectory() as folder:
    Path(folder, "minutes.md").write_text(MINUTES, encoding="utf-8")
    Path(folder, "guide.txt").write_text("The Finch mill has stood in Leeds since 1890.", encoding="utf-8")
    memory = secateur.Memory("title_zsum")
    memory.index(Path(folder))

for source in memory.retrieve("What did Alder Ltd pay for the mill?", budget=24).sources:
    print(f"{source.doc_id}, {source.passage_id}, score {source.score:.2f}: {source.text.strip()}")
