# What a judge in process is.


def _judging_lm(wildcards):
    return option("judge", wildcards.judge).lm


def judging_model(wildcards):
    """Its weights; the tokenizer of the reader counts for an endpoint."""
    return reader_model({"lm": _judging_lm(wildcards) or layout.options_of(wildcards)["lm"]})


def judging_options(wildcards):
    """Its option, as plain data."""
    lm = _judging_lm(wildcards)
    return dict(vars(option("lm", lm))) if lm else None


def judging_reader(wildcards):
    """The code of the kind that reads it, which no key of a judge names."""
    lm = _judging_lm(wildcards)
    return lm and provenance.plugin_digest(
        plugins.module_of("reader", option("lm", lm).backend), ROOT / "workflow" / "secateur"
    )
