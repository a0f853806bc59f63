"""A LangChain retriever over a memory: pip install langchain-core."""

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

import secateur


class SecateurRetriever(BaseRetriever):
    """The parts of a question's context, in the order in which a reader gets them: the best stands last."""

    memory: object
    budget: int = 256

    def _get_relevant_documents(self, query, *, run_manager):
        found = self.memory.retrieve(query, budget=self.budget)
        return [
            Document(
                page_content=source.text.strip(),
                metadata={"source": source.doc_id, "passage": source.passage_id, "score": source.score},
            )
            for source in found.sources
        ]


if __name__ == "__main__":
    memory = secateur.Memory("title_zsum")
    memory.index(
        {"deal": "Alder Ltd bought the Finch mill in 2021.", "mill": "The Finch mill has stood in Leeds since 1890."}
    )
    retriever = SecateurRetriever(memory=memory, budget=40)
    for document in retriever.invoke("Where is the Finch mill?"):
        print(document.metadata["source"], document.page_content)
