# From contexts to figures: per question, per variant, per experiment.


rule evaluate_prompts:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        blocks=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/blocks.parquet",
        prompts=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/prompts.parquet",
    output:
        question_metrics=f"results/{{corpus}}/{{dataset}}/evidence/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/question_metrics.parquet",
        record=f"results/{{corpus}}/{{dataset}}/evidence/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/run.json",
    log:
        "logs/evaluate_prompts/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}.log",
    benchmark:
        "logs/evaluate_prompts/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "evaluate_prompts",
            "dataset.semantic",
            *EMBEDDING,
            "eval.budgets=default",
            "eval.exact_min_content=default",
        ),
    message:
        "Measure the evidence in the prompts for {wildcards.dataset} ({wildcards.prompt}, {wildcards.track})"
    script:
        "../../scripts/evaluate_prompts.py"


rule evaluate_sentences:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        utilities="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/utilities.parquet",
    output:
        question_metrics="results/{corpus}/{dataset}/sentences/{embedder}/{scorer}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/sentences/{embedder}/{scorer}/run.json",
    log:
        "logs/evaluate_sentences/{corpus}-{dataset}-{embedder}-{scorer}.log",
    benchmark:
        "logs/evaluate_sentences/{corpus}-{dataset}-{embedder}-{scorer}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("evaluate_sentences", "dataset.semantic", *EMBEDDING, "eval.budgets=default"),
    message:
        "Measure the evidence in ranked sentences for {wildcards.dataset}"
    script:
        "../../scripts/evaluate_sentences.py"


rule evaluate_selection:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        utilities="results/{corpus}/{dataset}/rankings/{ranking}/utilities.parquet",
        selections=selections_of,
    output:
        question_metrics="results/{corpus}/{dataset}/selection/{ranking}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/selection/{ranking}/run.json",
    log:
        "logs/evaluate_selection/{corpus}-{dataset}-{ranking}.log",
    benchmark:
        "logs/evaluate_selection/{corpus}-{dataset}-{ranking}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("evaluate_selection", "dataset.cutoffs"),
    message:
        "Measure the selected context for {wildcards.dataset}"
    script:
        "../../scripts/evaluate_selection.py"


rule lift_prompts:
    input:
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        blocks=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/blocks.parquet",
        model="results/models/{lm}/model.json",
    output:
        question_metrics=f"results/{{corpus}}/{{dataset}}/lift/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/{{ecs}}/question_metrics.parquet",
        record=f"results/{{corpus}}/{{dataset}}/lift/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/{{ecs}}/run.json",
    log:
        "logs/lift_prompts/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}.log",
    benchmark:
        "logs/lift_prompts/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("lift_prompts", "lm", *LIFTING),
    message:
        "Measure the answer lift of the prompts for {wildcards.dataset} ({wildcards.prompt}, {wildcards.track})"
    script:
        "../../scripts/lift_prompts.py"


rule lift_sentences:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        utilities="results/{corpus}/{dataset}/rankings/{embedder}/{scorer}/utilities.parquet",
        model="results/models/{lm}/model.json",
    output:
        question_metrics=f"results/{{corpus}}/{{dataset}}/lift/{UTILITY}/question_metrics.parquet",
        record=f"results/{{corpus}}/{{dataset}}/lift/{UTILITY}/run.json",
    log:
        "logs/lift_sentences/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}.log",
    benchmark:
        "logs/lift_sentences/{corpus}-{dataset}-{embedder}-{scorer}-{lm}-{ecs}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("lift_sentences", "lm", *LIFTING, "scorer.lifted", "embedder.model"),
    message:
        "Measure the answer lift of ranked sentences for {wildcards.dataset}"
    script:
        "../../scripts/lift_sentences.py"


rule measure_graph:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        entities="results/{corpus}/codebook/{extractor}/{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}/{embedder}/relations.parquet",
        aliases=f"results/{{corpus}}/graph/{GRAPH}/aliases.parquet",
        lines="results/{corpus}/codebook/{extractor}/{embedder}/lines.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        edge_sources=f"results/{{corpus}}/graph/{GRAPH}/edge_sources.parquet",
        run_edges=f"results/{{corpus}}/graph/{GRAPH}/run_edges.parquet",
    output:
        graph_measures=f"results/{{corpus}}/{{dataset}}/measures/{GRAPH}/{{retriever}}/graph_measures.parquet",
        record=f"results/{{corpus}}/{{dataset}}/measures/{GRAPH}/{{retriever}}/run.json",
    log:
        "logs/measure_graph/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.log",
    benchmark:
        "logs/measure_graph/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "measure_graph",
            *SHORTLISTING,
            "codebook.bonus_path",
            "codebook.bonus_node",
            "track.runs",
            "embedder.tau",
            *EMBEDDING,
            "eval.seed=default",
            "eval.lemma_questions=default",
            "eval.symbol_shares=default",
            "eval.read_shares=default",
            "eval.shortlists=default",
            "eval.tau_steps=default",
            "eval.windows=default",
        ),
    message:
        "Measure what the lemmas claim on {wildcards.dataset} ({wildcards.retriever}, {wildcards.track})"
    script:
        "../../scripts/measure_graph.py"


rule sample_questions:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        entities="results/{corpus}/codebook/{extractor}/{embedder}/entities.parquet",
        relations="results/{corpus}/codebook/{extractor}/{embedder}/relations.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        edge_sources=f"results/{{corpus}}/graph/{GRAPH}/edge_sources.parquet",
        blocks=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/blocks.parquet",
        question_metrics=f"results/{{corpus}}/{{dataset}}/evidence/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/question_metrics.parquet",
    output:
        samples=f"results/{{corpus}}/{{dataset}}/samples/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/samples.parquet",
        subgraphs=f"results/{{corpus}}/{{dataset}}/samples/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/subgraphs.parquet",
        record=f"results/{{corpus}}/{{dataset}}/samples/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/run.json",
    log:
        "logs/sample_questions/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}.log",
    benchmark:
        "logs/sample_questions/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "sample_questions",
            "dataset.split",
            "prompt.budget",
            "eval.budgets=default",
            "eval.seed=default",
            "eval.samples=default",
            "eval.max_edges=default",
        ),
    message:
        "Sample the questions of {wildcards.dataset} that the report draws ({wildcards.track})"
    script:
        "../../scripts/sample_questions.py"


rule compare_variants:
    input:
        question_metrics=unique(row["file"] for row in figure_rows(None)),
        questions=dataset_tables("questions"),
        evidence=dataset_tables("evidence"),
        published="data/published.yaml",
    output:
        metrics=f"results/experiments/{EXPERIMENT}/metrics.parquet",
        comparisons=f"results/experiments/{EXPERIMENT}/comparisons.parquet",
        record=f"results/experiments/{EXPERIMENT}/run.json",
    log:
        f"logs/compare_variants/{EXPERIMENT}.log",
    benchmark:
        f"logs/compare_variants/{EXPERIMENT}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "compare_variants",
            "eval.claim=default",
            "eval.against=default",
            "eval.answers_against=default",
            "eval.resamples=default",
            "eval.permutations=default",
            "eval.confidence=default",
            "eval.min_clusters=default",
            "eval.seed=default",
            variants=figure_rows,
            datasets=dataset_rows,
        ),
    message:
        f"Compare the variants of {EXPERIMENT}"
    script:
        "../../scripts/compare_variants.py"


rule build_report:
    input:
        metrics=f"results/experiments/{EXPERIMENT}/metrics.parquet",
        comparisons=f"results/experiments/{EXPERIMENT}/comparisons.parquet",
        prompts=prompt_tables(),
        graph_measures=[row["file"] for row in measured()],
        dataset_statistics=[row["file"] for row in described()],
        samples=[graph_file("samples", "samples", v) for v in drawn()],
        subgraphs=[graph_file("samples", "subgraphs", v) for v in drawn()],
        published="data/published.yaml",
        score_quantiles=[herring_file("score_quantiles", v) for v in checked()],
        frontier=[policy_file("frontier", v) for v in learnt()],
    output:
        report=f"results/experiments/{EXPERIMENT}/report.html",
        record=f"results/experiments/{EXPERIMENT}/report/run.json",
    log:
        f"logs/build_report/{EXPERIMENT}.log",
    benchmark:
        f"logs/build_report/{EXPERIMENT}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "build_report",
            f"experiment.title={EXPERIMENT}",
            variants=variant_rows,
            measured=measured_rows,
            drawn=drawn_rows,
            described=described_rows,
            checked=checked_rows,
            learnt=learnt_rows,
            name=experiment_name,
        ),
    message:
        f"Write the report of {EXPERIMENT}"
    script:
        "../../scripts/build_report.py"
