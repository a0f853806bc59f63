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

GROUPS: dict[str, type] = {
    "corpus": Corpus,
    "dataset": Dataset,
    "extractor": Extractor,
    "embedder": Embedder,
    "codebook": Codebook,
    "consolidation": Consolidation,
    "order": Order,
    "retriever": Retriever,
    "reranker": Reranker,
    "assembly": Assembly,
    "lm": Lm,
    "ecs": Ecs,
    "memory": Memory,
    "answer": Answer,
    "judge": Judge,
    "policy": Policy,
    "peer": Peer,
    "service": Service,
    "rankers": Rankers,
    "system": System,
    "study": Study,
    "eval": Eval,
    "experiment": Experiment,
}
