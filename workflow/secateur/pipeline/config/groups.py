"""The groups of conf/ and the dataclass of each."""

from secateur.pipeline.config.answers import Answer
from secateur.pipeline.config.contexts import Prompt
from secateur.pipeline.config.datasets import Corpus, Dataset
from secateur.pipeline.config.ecs import Ecs
from secateur.pipeline.config.evaluation import Eval
from secateur.pipeline.config.experiment import Experiment, System
from secateur.pipeline.config.graph import Codebook, Consolidation, Extractor, Retriever, Track
from secateur.pipeline.config.memory import Memory
from secateur.pipeline.config.models import Embedder, Lm
from secateur.pipeline.config.policy import Policy
from secateur.pipeline.config.ranking import Scorers

__all__ = ["GROUPS"]

GROUPS: dict[str, type] = {
    "corpus": Corpus,
    "dataset": Dataset,
    "extractor": Extractor,
    "embedder": Embedder,
    "codebook": Codebook,
    "consolidation": Consolidation,
    "track": Track,
    "retriever": Retriever,
    "prompt": Prompt,
    "lm": Lm,
    "ecs": Ecs,
    "memory": Memory,
    "answer": Answer,
    "policy": Policy,
    "scorer": Scorers,
    "system": System,
    "eval": Eval,
    "experiment": Experiment,
}
