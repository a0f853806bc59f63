# Writes the contexts table, which every evaluation reads, from a ranking or from the user's contexts.


include: "functions/contexts.smk"


ASSEMBLED = "results/{corpus}/{dataset}/contexts/{ranking}/{pick}/{reranker}/{book}/{assembly}.{lm}{length}"
IMPORTED = "results/{corpus}/{dataset}/contexts/imported/{imported}.{order}/imported/none/text/{assembly}.{lm}{length}"


rule assemble_contexts:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        rankings=of_options(layout.ranked_file),
        triples=graph_table("triples"),
        entities=graph_table("entities"),
        relations=graph_table("relations"),
        edges=graph_table("edges"),
        edge_sources=graph_table("edge_sources"),
        aliases=graph_table("aliases"),
        sent=of_options(sent_by_peer),
        lengths=of_options(lengths_of),
    output:
        contexts=f"{ASSEMBLED}/contexts.parquet",
        record=f"{ASSEMBLED}/run.json",
    log:
        "logs/assemble_contexts/{corpus}-{dataset}-{ranking}-{pick}-{reranker}-{book}-{assembly}-{lm}{length}.log",
    threads: 1
    params:
        **leaf_params(
            "assemble_contexts",
            "assembly",
            "lm.model",
            "embedder.model",
            "eval.budgets=default",
        ),
    message:
        "Write the contexts of {wildcards.dataset} ({wildcards.pick}, {wildcards.assembly})"
    script:
        "../../scripts/assemble_contexts.py"


rule import_contexts:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        file=imported_file,
        lengths=of_options(lengths_of),
    output:
        contexts=f"{IMPORTED}/contexts.parquet",
        record=f"{IMPORTED}/run.json",
    log:
        "logs/import_contexts/{corpus}-{dataset}-{imported}-{order}-{assembly}-{lm}{length}.log",
    threads: 1
    params:
        **leaf_params("import_contexts", "lm.model", "lm.window"),
    message:
        "Import the contexts of {wildcards.imported} for {wildcards.dataset}"
    script:
        "../../scripts/import_contexts.py"
