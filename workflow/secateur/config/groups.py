"""The groups of conf/ and the dataclass of each."""

from secateur.config.answers import Answer
from secateur.config.contexts import Assembly
from secateur.config.datasets import Corpus, Dataset
from secateur.config.ecs import Ecs
from secateur.config.evaluation import Eval
from secateur.config.experiment import Experiment, Study, System
from secateur.config.graph import Codebook, Consolidation, Extractor, Order, Retriever
from secateur.config.judging import Judge
from secateur.config.memory import Memory
from secateur.config.models import Embedder, Lm
from secateur.config.peers import Peer, Service
from secateur.config.policy import Policy
from secateur.config.ranking import Rankers, Reranker

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
