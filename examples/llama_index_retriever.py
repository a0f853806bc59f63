"""A LlamaIndex retriever over a memory: pip install llama-index-core."""

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

import secateur


class SecateurRetriever(BaseRetriever):
    """The parts of a question's context, in the order in which a reader gets them: the best stands last."""

    def __init__(self, memory, budget=256):
        self._memory, self._budget = memory, budget
        super().__init__()

    def _retrieve(self, query_bundle):
        found = self._memory.retrieve(query_bundle.query_str, budget=self._budget)
        return [
            NodeWithScore(
                node=TextNode(id_=source.passage_id, text=source.text.strip(), metadata={"source": source.doc_id}),
                score=source.score,
            )
            for source in found.sources
        ]


if __name__ == "__main__":
    memory = secateur.Memory("title_zsum")
    memory.index(
        {"deal": "Alder Ltd bought the Finch mill in 2021.", "mill": "The Finch mill has stood in Leeds since 1890."}
    )
    for found in SecateurRetriever(memory, budget=40).retrieve("Where is the Finch mill?"):
        print(found.node.metadata["source"], found.node.text)
