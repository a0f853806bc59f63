# Builds the graph and ranks by it: triples -> codebook -> runs -> consolidation -> candidates -> ranking
# (AutoPrunedRetriever, section 2).


include: "functions/graph.smk"


RUNS = layout.pattern((*layout.BOOK, "codebook", "order"))


rule extract_triples:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        files=triple_files,
    output:
        triples="results/{corpus}/triples/{extractor}/{shard}/triples.parquet",
        record="results/{corpus}/triples/{extractor}/{shard}/run.json",
    log:
        "logs/extract_triples/{corpus}-{extractor}-{shard}.log",
    threads: 1
    params:
        **leaf_params("extract_triples", *slices.EXTRACTION),
    message:
        "Extract triples from {wildcards.corpus}, shard {wildcards.shard}"
    script:
        "../../scripts/extract_triples.py"


rule encode_questions:
    input:
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
    output:
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        record="results/{corpus}/{dataset}/triples/{extractor}/run.json",
    log:
        "logs/encode_questions/{corpus}-{dataset}-{extractor}.log",
    threads: 1
    params:
        **leaf_params("encode_questions", *slices.EXTRACTION),
    message:
        "Extract triples from the questions of {wildcards.dataset}"
    script:
        "../../scripts/encode_questions.py"


rule build_codebook:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        triples=shards(layout.triples, "extractor"),
    output:
        entities="results/{corpus}/codebook/{extractor}.{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}.{embedder}/relations.parquet",
        edges="results/{corpus}/codebook/{extractor}.{embedder}/edges.parquet",
        lines="results/{corpus}/codebook/{extractor}.{embedder}/lines.parquet",
        edge_sources="results/{corpus}/codebook/{extractor}.{embedder}/edge_sources.parquet",
        record="results/{corpus}/codebook/{extractor}.{embedder}/run.json",
    log:
        "logs/build_codebook/{corpus}-{extractor}-{embedder}.log",
    threads: 1
    params:
        **leaf_params("build_codebook", *slices.EMBEDDING),
    message:
        "Build the codebook of {wildcards.corpus}"
    script:
        "../../scripts/build_codebook.py"


rule build_runs:
    input:
        edges="results/{corpus}/codebook/{extractor}.{embedder}/edges.parquet",
        lines="results/{corpus}/codebook/{extractor}.{embedder}/lines.parquet",
        edge_sources="results/{corpus}/codebook/{extractor}.{embedder}/edge_sources.parquet",
    output:
        runs=f"results/{{corpus}}/runs/{RUNS}/runs.parquet",
        run_edges=f"results/{{corpus}}/runs/{RUNS}/run_edges.parquet",
        record=f"results/{{corpus}}/runs/{RUNS}/run.json",
    log:
        "logs/build_runs/{corpus}-{extractor}-{embedder}-{codebook}-{order}.log",
    threads: 1
    params:
        **leaf_params("build_runs", "codebook", "order.runs", "embedder.tau"),
    message:
        "Build the runs of {wildcards.corpus} ({wildcards.order})"
    script:
        "../../scripts/build_runs.py"


rule consolidate:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        entities="results/{corpus}/codebook/{extractor}.{embedder}/entities.parquet",
        edges="results/{corpus}/codebook/{extractor}.{embedder}/edges.parquet",
        edge_sources="results/{corpus}/codebook/{extractor}.{embedder}/edge_sources.parquet",
        run_edges=f"results/{{corpus}}/runs/{RUNS}/run_edges.parquet",
        forced=alias_file,
    output:
        aliases=f"results/{{corpus}}/graph/{GRAPH}/aliases.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        edge_sources=f"results/{{corpus}}/graph/{GRAPH}/edge_sources.parquet",
        run_edges=f"results/{{corpus}}/graph/{GRAPH}/run_edges.parquet",
        tombstones=f"results/{{corpus}}/graph/{GRAPH}/tombstones.parquet",
        record=f"results/{{corpus}}/graph/{GRAPH}/run.json",
    log:
        "logs/consolidate/{corpus}-{extractor}-{embedder}-{codebook}-{order}-{consolidation}.log",
    threads: 1
    params:
        **leaf_params("consolidate", *slices.CONSOLIDATING),
    message:
        "Consolidate the entities of {wildcards.corpus} ({wildcards.consolidation})"
    script:
        "../../scripts/consolidate.py"


rule find_mentions:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        entities="results/{corpus}/codebook/{extractor}.{embedder}/entities.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        edge_sources=f"results/{{corpus}}/graph/{GRAPH}/edge_sources.parquet",
    output:
        mentions=f"results/{{corpus}}/mentions/{GRAPH}/mentions.parquet",
        record=f"results/{{corpus}}/mentions/{GRAPH}/run.json",
    log:
        "logs/find_mentions/{corpus}-{extractor}-{embedder}-{codebook}-{order}-{consolidation}.log",
    threads: 1
    params:
        **leaf_params("find_mentions", *slices.NAMING),
    message:
        "Find mentions of entities in {wildcards.corpus} ({wildcards.consolidation})"
    script:
        "../../scripts/find_mentions.py"


rule rank_by_graph:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        entities="results/{corpus}/codebook/{extractor}.{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}.{embedder}/relations.parquet",
        lines="results/{corpus}/codebook/{extractor}.{embedder}/lines.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        run_edges=f"results/{{corpus}}/graph/{GRAPH}/run_edges.parquet",
        mentions=mentions_to_walk,
    output:
        paths=f"results/{{corpus}}/{{dataset}}/rankings/graph/{GRAPH}.{{retriever}}/paths.parquet",
        candidates=f"results/{{corpus}}/{{dataset}}/rankings/graph/{GRAPH}.{{retriever}}/candidates.parquet",
        rankings=f"results/{{corpus}}/{{dataset}}/rankings/graph/{GRAPH}.{{retriever}}/rankings.parquet",
        record=f"results/{{corpus}}/{{dataset}}/rankings/graph/{GRAPH}.{{retriever}}/run.json",
    log:
        "logs/rank_by_graph/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{order}-{consolidation}-{retriever}.log",
    threads: 1
    params:
        **leaf_params(
            "rank_by_graph",
            *slices.RETRIEVAL,
            "order.neighbour",
            *slices.EMBEDDING,
        ),
    message:
        "Rank by the graph for {wildcards.dataset} ({wildcards.retriever}, {wildcards.order})"
    script:
        "../../scripts/rank_by_graph.py"


rule measure_growth:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        entities="results/{corpus}/codebook/{extractor}.{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}.{embedder}/relations.parquet",
        lines="results/{corpus}/codebook/{extractor}.{embedder}/lines.parquet",
        aliases=f"results/{{corpus}}/graph/{GRAPH}/aliases.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        edge_sources=f"results/{{corpus}}/graph/{GRAPH}/edge_sources.parquet",
        run_edges=f"results/{{corpus}}/graph/{GRAPH}/run_edges.parquet",
    output:
        growth=f"results/{{corpus}}/growth/{GRAPH}/growth.parquet",
        record=f"results/{{corpus}}/growth/{GRAPH}/run.json",
    log:
        "logs/measure_growth/{corpus}-{extractor}-{embedder}-{codebook}-{order}-{consolidation}.log",
    threads: 1
    params:
        **leaf_params("measure_growth", "eval.read_shares=default"),
    message:
        "Measure how the graph of {wildcards.corpus} grows ({wildcards.order})"
    script:
        "../../scripts/measure_growth.py"
