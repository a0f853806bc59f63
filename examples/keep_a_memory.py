"""A memory that texts come to and leave, in a folder between two programs."""

from pathlib import Path
from tempfile import TemporaryDirectory

import secateur

memory = secateur.Memory("title_zsum")
memory.index(
    {"deal": "Alder Ltd bought the Finch mill in 2021.", "mill": "The Finch mill has stood in Leeds since 1890."}
)
memory.index({"deal": "Alder Ltd sold the Finch mill in 2024."})  # replaces the document of this id
memory.remove("mill")
print(len(memory), memory.documents)

with TemporaryDirectory() as folder:
    memory.save(Path(folder, "memory"))
    again = secateur.Memory.load(Path(folder, "memory"))
print(again.retrieve("When was the mill sold?", budget=40))
