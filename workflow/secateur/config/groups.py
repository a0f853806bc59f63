"""Groups of conf/, each with its dataclass."""

from secateur.config.answers import Answer, Judge
from secateur.config.datasets import Corpus, Dataset
from secateur.config.evaluation import Ecs, Eval
from secateur.config.experiment import Experiment, Study, System
from secateur.config.graph import Codebook, Consolidation, Extractor, Order, Retriever
from secateur.config.models import Embedder, Lm
from secateur.config.peers import Peer, Service
from secateur.config.policy import Memory, Policy
from secateur.config.ranking import Assembly, Rankers, Reranker

__all__ = ["GROUPS"]

GROUPS: dict[str, type] = {  # a group has the name of its dataclass
    option.__name__.lower(): option
    for option in (
        *(Corpus, Dataset, Extractor, Embedder, Codebook, Consolidation, Order, Retriever, Reranker, Assembly, Lm, Ecs),
        *(Memory, Answer, Judge, Policy, Peer, Service, Rankers, System, Study, Eval, Experiment),
    )
}
