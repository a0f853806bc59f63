# The graph path: triples -> codebook -> runs -> candidates -> prompts (AutoPrunedRetriever, section 2).


rule extract_triples:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        files=triple_files,
    output:
        triples="results/{corpus}/triples/{extractor}/{shard}/triples.parquet",
        record="results/{corpus}/triples/{extractor}/{shard}/run.json",
    log:
        "logs/extract_triples/{corpus}-{extractor}-{shard}.log",
    benchmark:
        "logs/extract_triples/{corpus}-{extractor}-{shard}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("extract_triples", *EXTRACTION),
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
    benchmark:
        "logs/encode_questions/{corpus}-{dataset}-{extractor}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("encode_questions", *EXTRACTION),
    message:
        "Extract triples from the questions of {wildcards.dataset}"
    script:
        "../../scripts/encode_questions.py"


rule build_codebook:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        triples=shards,
    output:
        entities="results/{corpus}/codebook/{extractor}/{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}/{embedder}/relations.parquet",
        edges="results/{corpus}/codebook/{extractor}/{embedder}/edges.parquet",
        lines="results/{corpus}/codebook/{extractor}/{embedder}/lines.parquet",
        edge_sources="results/{corpus}/codebook/{extractor}/{embedder}/edge_sources.parquet",
        record="results/{corpus}/codebook/{extractor}/{embedder}/run.json",
    log:
        "logs/build_codebook/{corpus}-{extractor}-{embedder}.log",
    benchmark:
        "logs/build_codebook/{corpus}-{extractor}-{embedder}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("build_codebook", *EMBEDDING),
    message:
        "Build the codebook of {wildcards.corpus}"
    script:
        "../../scripts/build_codebook.py"


rule build_runs:
    input:
        edges="results/{corpus}/codebook/{extractor}/{embedder}/edges.parquet",
        lines="results/{corpus}/codebook/{extractor}/{embedder}/lines.parquet",
        edge_sources="results/{corpus}/codebook/{extractor}/{embedder}/edge_sources.parquet",
    output:
        runs=f"results/{{corpus}}/runs/{RUNS}/runs.parquet",
        run_edges=f"results/{{corpus}}/runs/{RUNS}/run_edges.parquet",
        record=f"results/{{corpus}}/runs/{RUNS}/run.json",
    log:
        "logs/build_runs/{corpus}-{extractor}-{embedder}-{codebook}-{track}.log",
    benchmark:
        "logs/build_runs/{corpus}-{extractor}-{embedder}-{codebook}-{track}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("build_runs", "codebook", "track.runs", "embedder.tau"),
    message:
        "Build the runs of {wildcards.corpus} ({wildcards.track})"
    script:
        "../../scripts/build_runs.py"


rule consolidate:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        entities="results/{corpus}/codebook/{extractor}/{embedder}/entities.parquet",
        edges="results/{corpus}/codebook/{extractor}/{embedder}/edges.parquet",
        edge_sources="results/{corpus}/codebook/{extractor}/{embedder}/edge_sources.parquet",
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
        "logs/consolidate/{corpus}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}.log",
    benchmark:
        "logs/consolidate/{corpus}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("consolidate", "consolidation"),
    message:
        "Consolidate the entities of {wildcards.corpus} ({wildcards.consolidation})"
    script:
        "../../scripts/consolidate.py"


rule propose_candidates:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        entities="results/{corpus}/codebook/{extractor}/{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}/{embedder}/relations.parquet",
        lines="results/{corpus}/codebook/{extractor}/{embedder}/lines.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        run_edges=f"results/{{corpus}}/graph/{GRAPH}/run_edges.parquet",
    output:
        candidates=f"results/{{corpus}}/{{dataset}}/candidates/{GRAPH}/{{retriever}}/candidates.parquet",
        ranked=f"results/{{corpus}}/{{dataset}}/candidates/{GRAPH}/{{retriever}}/ranked.parquet",
        record=f"results/{{corpus}}/{{dataset}}/candidates/{GRAPH}/{{retriever}}/run.json",
    log:
        "logs/propose_candidates/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.log",
    benchmark:
        "logs/propose_candidates/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "propose_candidates",
            *RETRIEVAL,
            "track.neighbour",
            *EMBEDDING,
        ),
    message:
        "Retrieve candidate runs for {wildcards.dataset} ({wildcards.retriever}, {wildcards.track})"
    script:
        "../../scripts/propose_candidates.py"


rule reread_sources:
    input:
        ranked=f"results/{{corpus}}/{{dataset}}/candidates/{GRAPH}/{{retriever}}/ranked.parquet",
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        model=reader_model,
    output:
        ranked=f"results/{{corpus}}/{{dataset}}/reread/{GRAPH}/{{retriever}}/ranked.parquet",
        record=f"results/{{corpus}}/{{dataset}}/reread/{GRAPH}/{{retriever}}/run.json",
    log:
        "logs/reread_sources/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.log",
    benchmark:
        "logs/reread_sources/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "reread_sources",
            "retriever.reader",
            "retriever.reread",
            "retriever.w_pmi",
            *(f"{key}=default" for key in ROWS),
            reader=reader_options,
        ),
    message:
        "Read the best sources of {wildcards.dataset} again ({wildcards.retriever}, {wildcards.track})"
    script:
        "../../scripts/reread_sources.py"


rule calibrate_sources:
    input:
        ranked=ranked_sources,
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence=fitted_on,
    output:
        sources=f"results/{{corpus}}/{{dataset}}/sources/{GRAPH}/{{retriever}}/sources.parquet",
        record=f"results/{{corpus}}/{{dataset}}/sources/{GRAPH}/{{retriever}}/run.json",
    log:
        "logs/calibrate_sources/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.log",
    benchmark:
        "logs/calibrate_sources/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "calibrate_sources",
            "retriever.calibration",
            "retriever.rank_width",
            "dataset.crossfit",
            "eval.folds=default",
            "eval.min_clusters=default",
        ),
    message:
        "Give the sources of {wildcards.dataset} their probabilities ({wildcards.retriever}, {wildcards.track})"
    script:
        "../../scripts/calibrate_sources.py"


rule build_prompts:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        entities="results/{corpus}/codebook/{extractor}/{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}/{embedder}/relations.parquet",
        lines="results/{corpus}/codebook/{extractor}/{embedder}/lines.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        edge_sources=f"results/{{corpus}}/graph/{GRAPH}/edge_sources.parquet",
        run_edges=f"results/{{corpus}}/graph/{GRAPH}/run_edges.parquet",
        candidates=f"results/{{corpus}}/{{dataset}}/candidates/{GRAPH}/{{retriever}}/candidates.parquet",
        sources=f"results/{{corpus}}/{{dataset}}/sources/{GRAPH}/{{retriever}}/sources.parquet",
    output:
        blocks=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/blocks.parquet",
        prompts=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/prompts.parquet",
        record=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/run.json",
    log:
        "logs/build_prompts/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}.log",
    benchmark:
        "logs/build_prompts/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("build_prompts", "prompt", "lm.model", "embedder.model", "eval.budgets=default"),
    message:
        "Build prompts for {wildcards.dataset} ({wildcards.prompt}, {wildcards.track})"
    script:
        "../../scripts/build_prompts.py"
