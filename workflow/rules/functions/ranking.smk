# Inputs of rankers and rerankers, besides passages and questions.


def rankers_of(wildcards):
    """(plug-in, spec) of each ranker of a list."""
    specs = option("rankers", wildcards.rankers).scorers.values()
    return [(plugins.load("ranker", spec["kind"]), spec) for spec in specs]


def ranker_files(wildcards):
    """The user's files that rankers read, such as imported rankings."""
    fix = f"correct conf/rankers/{wildcards.rankers}.yaml"
    settings = [
        (ranker, plugins.settings("ranker", spec, "conf/rankers", "scorers")) for ranker, spec in rankers_of(wildcards)
    ]
    paths = [getattr(of, name) for ranker, of in settings for name in ranker.FILES]
    return [or_stop(sources.existing)(or_stop(sources.located)(path), fix) for path in paths]


def gold_of_rankers(wildcards):
    """The gold evidence, for rankers that read it."""
    reads_gold = any(ranker.READS_GOLD for ranker, _ in rankers_of(wildcards))
    return layout.question_table(wildcards, "evidence") if reads_gold else []


def reranker_lm(wildcards):
    """The reranker's option of conf/lm; None for a reranker without a language model."""
    return option("reranker", wildcards.reranker).spec.get("lm")


def reranker_options(wildcards):
    """The reranker's option of conf/lm as plain data; of one that reads names, how names are told."""
    if names := option("reranker", wildcards.reranker).spec.get("names"):
        naming = option("consolidation", names)
        return {name: getattr(naming, name) for name in ("joins", "skipped", "longest")}
    return model_options(reranker_lm(wildcards))
