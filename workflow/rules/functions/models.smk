# Language models, and the plug-ins that read them.

from secateur.config import models
from secateur.models.prepare import weights_digest


def read_in_process(wildcards):
    """Whether a stage reads the model's weights itself, not a server."""
    return models.in_process(option("lm", wildcards.lm))


def weights_of(wildcards):
    """The digest of a model's weights where a stage reads them, so that others under the same address are noticed."""
    try:
        return weights_digest(option("lm", wildcards.lm).model, CACHE) if read_in_process(wildcards) else None
    except SecateurError:  # the stage says what is missing
        return None


def of_lm(value, lm_of):
    """An input function or a param: a value of the model that `lm_of` names for a job."""
    return lambda wildcards: value(lm_of(wildcards))


def model_file(lm):
    """The weights of an option of conf/lm; none without a model."""
    return layout.model({"lm": lm}) if lm else []


def model_options(lm):
    """An option of conf/lm as plain data, without its speed; None without a model."""
    return {k: v for k, v in vars(option("lm", lm)).items() if k != "seconds"} if lm else None


def reader_code(lm):
    """The code digest of the plug-in that reads a model, which no key of a judge or reranker names; None without a model."""
    if not lm:
        return None
    plugin = plugins.module_of("reader", option("lm", lm).backend)
    return code.plugin_digest(plugin, ROOT / "workflow" / "secateur")
