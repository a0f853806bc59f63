"""What a job needs of the cluster: a GPU follows its option, and a group asks for what its jobs need one after another."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from secateur.config import plugins

__all__ = ["default", "forget_gpu", "in_turn", "mend", "needs_gpu", "settings_of"]

GPU = ("gres", "slurm_partition")
TBD = "<TBD>"  # Snakemake's word for what a job will know once its input is there


def default(workflow: Any, name: str) -> str | None:
    """A default resource of the profile, as it stands there."""
    found = workflow.resource_settings._parsed_default_resources.get(name)
    return str(found.raw).strip("'\"") if found is not None else None


def forget_gpu(resources: Any, partition: Any) -> None:
    """Ask for no GPU, and for the partition of all other jobs."""
    if resources.get("gres"):
        resources.gres = ""
        if partition:
            resources.slurm_partition = partition


def needs_gpu(params: Mapping[str, Any]) -> bool:
    """Whether a job, by its settings, reads a model in its own process. Where nothing says so, the profile's word holds."""
    if "extractor.kind" in params and plugins.load("extractor", params["extractor.kind"]).GPU:
        return True
    for key in ("judge.backend", "answer.backend"):
        if params.get(key, "lm") != "lm":
            return False
    if "lm.backend" in params:
        return plugins.load("reader", params["lm.backend"]).IN_PROCESS
    return "extractor.kind" not in params


def settings_of(job: Any) -> dict[str, Any]:
    """A job's settings: its params are `group.key=value` strings."""
    pairs = (text.split("=", 1) for text in job.params if isinstance(text, str) and "=" in text)
    return {key: json.loads(value) for key, value in pairs if key != "code"}


def in_turn(jobs: Iterable[Any], partition: str | None) -> dict[str, int | str]:
    """What jobs need that run one after another in one allocation.

    Of memory and cores what the largest job needs; of time the longest limit of each rule, since a limit is set for the
    largest data and a group is for light jobs; a GPU where one of them reads a model, else `partition`.
    """
    found: dict[str, int | str] = {"slurm_partition": partition} if partition else {}
    minutes: dict[str, int] = {}
    gpu: dict[str, int | str] = {}
    for job in jobs:
        own = {
            name: value for name, value in job.resources.items() if isinstance(value, int | str) and str(value) != TBD
        }
        minutes[job.rule.name] = max(minutes.get(job.rule.name, 0), own.pop("runtime", 0))
        if own.get("gres"):
            asked = {name: own.pop(name) for name in GPU if name in own}
            gpu = asked if needs_gpu(settings_of(job)) else gpu
        for name, value in own.items():
            if isinstance(value, int):
                found[name] = max(found.get(name, value), value)
            elif name != "slurm_partition" or value != partition:  # one that the profile has for a rule wins
                found[name] = value
    return found | gpu | {"runtime": sum(minutes.values()), "_nodes": 1}


def mend() -> None:
    """Let Snakemake's groups ask for that: it adds up the memory of all jobs that could run at once, and refuses to put
    a job with a GPU beside one without."""
    from snakemake.resources import GroupResources

    def basic_layered(cls: Any, toposorted_jobs: Any, **_: Any) -> Mapping[str, int | str]:
        jobs = [job for layer in toposorted_jobs for job in layer]
        return in_turn(jobs, default(jobs[0].dag.workflow, "slurm_partition"))

    GroupResources.basic_layered = classmethod(basic_layered)
