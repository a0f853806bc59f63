"""AutoPrunedRetriever's symbolic contexts beside plain text: one ranking, three ways to write it."""

from pathlib import Path

import secateur

QUESTION = "Where does Marrowfield have its head office?"

for assembly in ("default", "lines", "paper"):  # sentences, cited triples, the released code's JSON
    memory = secateur.Memory("graph_zsum", assembly=assembly)
    memory.index(Path(__file__).parents[1] / "data/toy/documents")
    context = memory.retrieve(QUESTION, budget=160)
    print(f"--- {assembly}: {context.tokens} tokens", context, sep="\n")
