# The waist: a ranking, or contexts made elsewhere, become the one table that every evaluation reads.


def form_of(options):
    """The kind of form of an assembly."""
    return kinds.load("form", option("assembly", options["assembly"]).form["kind"])


def graph_table(name):
    """A table of the graph that a form writes from; none for a form that writes from the text alone."""

    def found(options):
        if not form_of(options).NEEDS_GRAPH:
            return []
        return [f"results/{options['corpus']}/{layout.graph_folder(name, options)}/{name}.parquet"]

    return of_options(found)


def fitted_on(options):
    """The gold that probabilities are cross-fitted on, where a form wants them and a data set has that."""
    wanted = getattr(form_of(options), "NEEDS_PROBABILITY", False) and option("dataset", options["dataset"]).crossfit
    return [f"{layout.folder(options)}/questions/evidence.parquet"] if wanted else []


def contexts_elsewhere(wildcards):
    """The file of contexts that were made elsewhere."""
    name = wildcards.imported
    return made_elsewhere(option("system", name).contexts, f"`contexts` in conf/system/{name}.yaml names a JSONL file")


rule assemble_contexts:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        rankings=of_options(layout.ranked_file),
        evidence=of_options(fitted_on),
        triples=graph_table("triples"),
        entities=graph_table("entities"),
        relations=graph_table("relations"),
        edges=graph_table("edges"),
        edge_sources=graph_table("edge_sources"),
    output:
        contexts="results/{corpus}/{dataset}/contexts/{ranking}/{pick}/{reranker}/{book}/{assembly}.{lm}/contexts.parquet",
        record="results/{corpus}/{dataset}/contexts/{ranking}/{pick}/{reranker}/{book}/{assembly}.{lm}/run.json",
    log:
        "logs/assemble_contexts/{corpus}-{dataset}-{ranking}-{pick}-{reranker}-{book}-{assembly}-{lm}.log",
    benchmark:
        "logs/assemble_contexts/{corpus}-{dataset}-{ranking}-{pick}-{reranker}-{book}-{assembly}-{lm}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "assemble_contexts",
            "assembly",
            "lm.model",
            "embedder.model",
            "dataset.crossfit",
            "eval.budgets=default",
            "eval.folds=default",
            "eval.min_clusters=default",
            order=order_of,
        ),
    message:
        "Write the contexts of {wildcards.dataset} ({wildcards.pick}, {wildcards.assembly})"
    script:
        "../../scripts/assemble_contexts.py"


rule import_contexts:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        file=contexts_elsewhere,
    output:
        contexts="results/{corpus}/{dataset}/contexts/imported/{imported}/imported/none/text/{assembly}.{lm}/contexts.parquet",
        record="results/{corpus}/{dataset}/contexts/imported/{imported}/imported/none/text/{assembly}.{lm}/run.json",
    log:
        "logs/import_contexts/{corpus}-{dataset}-{imported}-{assembly}-{lm}.log",
    benchmark:
        "logs/import_contexts/{corpus}-{dataset}-{imported}-{assembly}-{lm}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("import_contexts", "assembly.budget", "lm.model", "eval.budgets=default"),
    message:
        "Read the contexts of {wildcards.imported} for {wildcards.dataset}"
    script:
        "../../scripts/import_contexts.py"
