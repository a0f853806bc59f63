"""In which experiment a key is asked: only some front ends, backends and systems have it."""

import re

SERVER = ("backend", "url", "top_logprobs", "concurrency", "timeout", "delays", "max_wait")
ENDPOINT = ("backend", "url", "model", "parameters", "concurrency", "timeout", "delays", "max_wait")
OWNERS = {  # keys that only some front ends or backends have: an option that has them
    **{f"extractor.{key}": "rebel" for key in ("model", "beams", "length_penalty", "max_tokens")},
    **{f"extractor.{key}": "llm" for key in ("url", "timeout", "delays", "max_wait", "max_failed")},
    **{f"extractor.{key}": "lightrag_medical" for key in ("kind", "files")},
    **{f"lm.{key}": "vllm_qwen2_5_7b" for key in SERVER},
    **{f"answer.{key}": "endpoint" for key in ENDPOINT},
}
SERVED = (  # of the utilities those that a server can give
    "system.turns=turns",
    "++rankers.scores.signed={kind: signed, length_penalty: 0.0}",
    "ecs.probes=[]",
    "++reranker.spec.lm=vllm_qwen2_5_7b",
    "system.answer=endpoint",
    "system.memory=none",  # what a session keeps is written in process
    "study.memory=none",
    "experiment.judges=[]",
)
ALONE = {  # and systems that can take the override
    "dataset.scored": ("+dataset.first.F1=1",),
    "assembly.form={": ("experiment.axes.assembly=[]",),
    "eval.prices": ("assembly.price=0.5",),
    "assembly.form.kind": ("experiment.axes.assembly=[]",),
    **{f"judge.{key}=": ("experiment.judges=[endpoint]",) for key in ENDPOINT},
    "judge.lm": ("experiment.judges=[smollm2]",),
    "memory.policy_of": ("experiment.systems=[compressed]",),
    "reranker.spec": ("experiment.axes.assembly=[]",),
    "system.family": ("experiment.systems=[rankers]",),
    "system.ranker=": ("experiment.systems=[title_zsum]",),
    "system.rankers": ("experiment.systems=[rankers]",),
    "system.reranker": ("experiment.systems=[graph_zsum, compressed]", "experiment.axes.reranker=[]"),
    "system.contexts": ("experiment.systems=[rankers]",),
    "system.answers_only": ("experiment.systems=[graph_zsum]",),
    "study.kind": ("experiment.studies=[policy]", "experiment.datasets=[toy_documents_smoke]"),
    "study.family": ("experiment.studies=[distractors]",),
}


def asked_of(override: str) -> tuple[str, ...]:
    """What the experiment is asked besides, before and after the override."""
    group, key = re.split(r"[.=]", override.lstrip("+").replace(".settings", ""))[:2]
    owner, axis = OWNERS.get(f"{group}.{key}"), "reader" if group == "lm" else group
    given = (f"system.{axis}={owner}", f"study.{axis}={owner}") if owner else ()
    given += SERVED if owner and group == "lm" else ()
    return given + tuple(one for prefix, own in ALONE.items() if override.startswith(prefix) for one in own)
