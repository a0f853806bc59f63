# Builds the graph and ranks by it: triples -> codebook -> runs -> consolidation -> candidates -> ranking
# (AutoPrunedRetriever, section 2).


include: "functions/graph.smk"


RUNS = layout.pattern((*layout.BOOK, "codebook", "order"))
CODEBOOK = "results/{corpus}/codebook/{extractor}.{embedder}"
RUN_FOLDER = f"results/{{corpus}}/runs/{RUNS}"
CONSOLIDATED = f"results/{{corpus}}/graph/{GRAPH}"
RANKED = f"results/{{corpus}}/{{dataset}}/rankings/graph/{GRAPH}.{{retriever}}{{part}}"
EMBEDDED = f"{CODEBOOK}{{part}}"
CODEBOOK_TABLES = ("entities", "relations", "edges", "lines", "edge_sources")


rule extract_triples:
    input:
        passages=PASSAGES,
        files=triple_files,
    output:
        triples="results/{corpus}/triples/{extractor}/{shard}/triples.parquet",
        record="results/{corpus}/triples/{extractor}/{shard}/run.json",
    log:
        "logs/extract_triples/{corpus}-{extractor}-{shard}.log",
    threads: 1
    params:
        **leaf_params("extract_triples", *slices.EXTRACTION, "extractor.max_malformed"),
    message:
        "Extract triples from {wildcards.corpus}, shard {wildcards.shard}"
    script:
        "../../scripts/extract_triples.py"


rule encode_questions:
    input:
        questions=QUESTIONS,
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
        **{name: parts(f"{EMBEDDED}/{name}.parquet", "embedder") for name in CODEBOOK_TABLES},
        passages=PASSAGES,
        triples=shards(layout.triples, "extractor"),
    output:
        entities=f"{EMBEDDED}/entities.parquet",
        relations=f"{EMBEDDED}/relations.parquet",
        edges=f"{EMBEDDED}/edges.parquet",
        lines=f"{EMBEDDED}/lines.parquet",
        edge_sources=f"{EMBEDDED}/edge_sources.parquet",
        record=f"{EMBEDDED}/run.json",
    log:
        "logs/build_codebook/{corpus}-{extractor}-{embedder}{part}.log",
    threads: 1
    params:
        **leaf_params("build_codebook", *slices.EMBEDDING),
    message:
        "Build the codebook of {wildcards.corpus}{wildcards.part}"
    script:
        "../../scripts/build_codebook.py"


rule build_runs:
    input:
        edges=f"{CODEBOOK}/edges.parquet",
        lines=f"{CODEBOOK}/lines.parquet",
        edge_sources=f"{CODEBOOK}/edge_sources.parquet",
    output:
        runs=f"{RUN_FOLDER}/runs.parquet",
        run_edges=f"{RUN_FOLDER}/run_edges.parquet",
        record=f"{RUN_FOLDER}/run.json",
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
        passages=PASSAGES,
        entities=f"{CODEBOOK}/entities.parquet",
        edges=f"{CODEBOOK}/edges.parquet",
        edge_sources=f"{CODEBOOK}/edge_sources.parquet",
        run_edges=f"{RUN_FOLDER}/run_edges.parquet",
        forced=alias_file,
    output:
        aliases=f"{CONSOLIDATED}/aliases.parquet",
        edges=f"{CONSOLIDATED}/edges.parquet",
        edge_sources=f"{CONSOLIDATED}/edge_sources.parquet",
        run_edges=f"{CONSOLIDATED}/run_edges.parquet",
        tombstones=f"{CONSOLIDATED}/tombstones.parquet",
        record=f"{CONSOLIDATED}/run.json",
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
        passages=PASSAGES,
        entities=f"{CODEBOOK}/entities.parquet",
        edges=f"{CONSOLIDATED}/edges.parquet",
        edge_sources=f"{CONSOLIDATED}/edge_sources.parquet",
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
        **{name: parts(f"{RANKED}/{name}.parquet", "retriever") for name in ("paths", "candidates", "rankings")},
        passages=PASSAGES,
        questions=QUESTIONS,
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        entities=f"{CODEBOOK}/entities.parquet",
        relations=f"{CODEBOOK}/relations.parquet",
        lines=f"{CODEBOOK}/lines.parquet",
        edges=f"{CONSOLIDATED}/edges.parquet",
        run_edges=f"{CONSOLIDATED}/run_edges.parquet",
        mentions=mentions_to_walk,
    output:
        paths=f"{RANKED}/paths.parquet",
        candidates=f"{RANKED}/candidates.parquet",
        rankings=f"{RANKED}/rankings.parquet",
        record=f"{RANKED}/run.json",
    log:
        "logs/rank_by_graph/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{order}-{consolidation}-{retriever}{part}.log",
    threads: 1
    params:
        **leaf_params(
            "rank_by_graph",
            *slices.RETRIEVAL,
            "order.neighbour",
            *slices.EMBEDDING,
        ),
    message:
        "Rank by the graph for {wildcards.dataset} ({wildcards.retriever}, {wildcards.order}){wildcards.part}"
    script:
        "../../scripts/rank_by_graph.py"


rule measure_growth:
    input:
        passages=PASSAGES,
        entities=f"{CODEBOOK}/entities.parquet",
        relations=f"{CODEBOOK}/relations.parquet",
        lines=f"{CODEBOOK}/lines.parquet",
        aliases=f"{CONSOLIDATED}/aliases.parquet",
        edges=f"{CONSOLIDATED}/edges.parquet",
        edge_sources=f"{CONSOLIDATED}/edge_sources.parquet",
        run_edges=f"{CONSOLIDATED}/run_edges.parquet",
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
