# The language model of a judge.


def judge_lm(wildcards):
    """The judge's option of conf/lm; None for an endpoint."""
    return option("judge", wildcards.judge).lm


def judge_model(wildcards):
    """The weights of the judge; for an endpoint those of the reader, whose tokenizer counts tokens."""
    lm = judge_lm(wildcards)
    return layout.model({"lm": lm} if lm else layout.options_of(wildcards))
