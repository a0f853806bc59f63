"""The groups of conf/ and the dataclass of each."""

from secateur.pipeline.config.answers import Answer
from secateur.pipeline.config.contexts import Assembly
from secateur.pipeline.config.datasets import Corpus, Dataset
from secateur.pipeline.config.ecs import Ecs
from secateur.pipeline.config.evaluation import Eval
from secateur.pipeline.config.experiment import Experiment, Study, System
from secateur.pipeline.config.graph import Codebook, Consolidation, Extractor, Order, Retriever
from secateur.pipeline.config.judging import Judge
from secateur.pipeline.config.memory import Memory
from secateur.pipeline.config.models import Embedder, Lm
from secateur.pipeline.config.peers import Peer, Service
from secateur.pipeline.config.policy import Policy
from secateur.pipeline.config.ranking import Rankers, Reranker

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
