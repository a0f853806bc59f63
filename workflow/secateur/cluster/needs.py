"""Resources of jobs on a cluster: a GPU only for options that read a model, and the sum of a group's jobs in turn."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from secateur.config import plugins
from secateur.models.size import BYTES, parameters

__all__ = ["ask_for_weights", "default", "forget_gpu", "in_turn", "needs_gpu", "patch", "settings_of", "weights_mb"]

GPU = ("gres", "slurm_partition")
TBD = "<TBD>"  # Snakemake's value of a resource that depends on missing input


def default(workflow: Any, name: str) -> str | None:
    """A default resource of the profile, as text."""
    resource = workflow.resource_settings._parsed_default_resources.get(name)
    return str(resource.raw).strip("'\"") if resource is not None else None


def forget_gpu(resources: Any, partition: Any) -> None:
    """Remove a job's request for a GPU, and set the partition of other jobs."""
    if resources.get("gres"):
        resources.gres = ""
        if partition:
            resources.slurm_partition = partition


def needs_gpu(params: Mapping[str, Any]) -> bool:
    """Whether a job reads a model in its own process, by its settings; true if they do not tell."""
    if "extractor.kind" in params and plugins.load("extractor", params["extractor.kind"]).GPU:
        return True
    for key in ("judge.backend", "answer.backend"):
        if params.get(key, "lm") != "lm":
            return False
    if models := _models(params):
        return any(plugins.load("reader", model["backend"]).IN_PROCESS for model in models)
    if "reranker.spec" in params:
        return plugins.load("reranker", params["reranker.spec"]["kind"]).GPU
    return "extractor.kind" not in params


def _models(params: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The options of the language models that a job reads: its reader, its reranker's model, its judges'."""
    reader = {key.removeprefix("lm."): value for key, value in params.items() if key.startswith("lm.")}
    others = (params.get("extra.model"), params.get("extra.judge_model"))
    return [
        model for model in (reader, *others) if model and "backend" in model
    ]  # without one, the tokenizer alone is read


def ask_for_weights(resources: Any, params: Mapping[str, Any]) -> None:
    """Add the weights of a job's language model to the memory that it asks for."""
    if resources.get("mem_mb"):
        resources.mem_mb += weights_mb(params)


def weights_mb(params: Mapping[str, Any]) -> int:
    """MB of all weights that a job reads in its own process, in their data type; 0 for GGUF files, and where a model is not here yet.

    A GPU gets them through host memory too.
    """
    return sum(map(_weights_mb, _models(params))) if needs_gpu(params) else 0


def _weights_mb(model: Mapping[str, Any]) -> int:
    address, types = model.get("model"), model.get("dtype")
    if not address or not types or not plugins.load("reader", model["backend"]).IN_PROCESS:
        return 0  # a reader of one's own may have no types
    return (parameters(address) or 0) * max(BYTES[dtype] for dtype in types.values()) // 2**20


def settings_of(job: Any) -> dict[str, Any]:
    """A job's settings, from its params (`group.key=value`)."""
    pairs = (text.split("=", 1) for text in job.params if isinstance(text, str) and "=" in text)
    return {key: json.loads(value) for key, value in pairs if key != "code"}


def in_turn(jobs: Iterable[Any], partition: str | None) -> dict[str, int | str]:
    """The resources of an allocation in which jobs run one after another.

    Memory and cores: those of the largest job. Time: the sum of each rule's longest limit, since limits are set for the
    largest data and groups are for light jobs. A GPU if a job reads a model, else the partition `partition`.
    """
    resources: dict[str, int | str] = {"slurm_partition": partition} if partition else {}
    minutes: dict[str, int] = {}
    gpu: dict[str, int | str] = {}
    for job in jobs:
        requested = {name: v for name, v in job.resources.items() if isinstance(v, int | str) and str(v) != TBD}
        minutes[job.rule.name] = max(minutes.get(job.rule.name, 0), requested.pop("runtime", 0))
        if requested.get("gres"):
            gpu_request = {name: requested.pop(name) for name in GPU if name in requested}
            gpu = gpu_request if needs_gpu(settings_of(job)) else gpu
        if "mem_mb" in requested:
            requested["mem_mb"] += weights_mb(settings_of(job))
        for name, value in requested.items():
            if isinstance(value, int):
                resources[name] = max(resources.get(name, value), value)
            elif name != "slurm_partition" or value != partition:  # the profile's partition for a rule wins
                resources[name] = value
    return resources | gpu | {"runtime": sum(minutes.values()), "_nodes": 1}


def patch() -> None:
    """Patches Snakemake's resources of groups to `in_turn`.

    Snakemake adds the memory of all jobs that could run at once, and rejects groups that mix jobs with and without a GPU.
    """
    from snakemake.resources import GroupResources

    def basic_layered(cls: Any, toposorted_jobs: Any, **_: Any) -> Mapping[str, int | str]:
        jobs = [job for layer in toposorted_jobs for job in layer]
        return in_turn(jobs, default(jobs[0].dag.workflow, "slurm_partition"))

    GroupResources.basic_layered = classmethod(basic_layered)
