# What rankers and rerankers read besides the text.


def rankers_of(wildcards):
    """The rankers of a list: (kind, its settings as they are written)."""
    specs = option("rankers", wildcards.rankers).scorers.values()
    return [(plugins.load("ranker", spec["kind"]), spec) for spec in specs]


def runs_elsewhere(wildcards):
    """The files that rankers read: rankings made elsewhere."""
    fix = f"conf/rankers/{wildcards.rankers}.yaml names a file that is there"
    found = [spec[name] for kind, spec in rankers_of(wildcards) for name in kind.FILES]
    return [made_elsewhere(path, fix) for path in found]


def gold_of_rankers(wildcards):
    """The gold evidence, for the rankers that are made of it."""
    reads = any(kind.READS_GOLD for kind, _ in rankers_of(wildcards))
    return [f"results/{wildcards.corpus}/{wildcards.dataset}/questions/evidence.parquet"] if reads else []


def reranking_model(wildcards):
    """The language model that a reranker reads with, where it has one."""
    lm = option("reranker", wildcards.reranker).spec.get("lm")
    return [f"results/models/{lm}/model.json"] if lm else []


def reranking_reader(wildcards):
    """The code of the kind that reads it, which no key of a reranker names."""
    lm = option("reranker", wildcards.reranker).spec.get("lm")
    if not lm:
        return None
    return provenance.plugin_digest(plugins.module_of("reader", option("lm", lm).backend), ROOT / "workflow" / "secateur")


def reranking_options(wildcards):
    """Its option, as plain data."""
    lm = option("reranker", wildcards.reranker).spec.get("lm")
    return dict(vars(option("lm", lm))) if lm else None
