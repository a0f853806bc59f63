# The compression policy: every configuration of training questions -> utilities -> DPO -> test questions (section 2.8).


rule build_preferences:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        candidates=f"results/{{corpus}}/{{dataset}}/candidates/{GRAPH}/{{retriever}}/candidates.parquet",
        blocks=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/blocks.parquet",
        model="results/models/{lm}/model.json",
    output:
        preferences=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/preferences.parquet",
        features=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/features.parquet",
        memories=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/memories.parquet",
        record=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/run.json",
    log:
        "logs/build_preferences/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}-{memory}.log",
    benchmark:
        "logs/build_preferences/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}-{memory}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "build_preferences",
            "lm",
            *keys_but("memory", "window", "fresh", "policy_of"),
            *(f"{key}=default" for key in WRITING),
            "dataset.trained",
            "prompt.budget",
            "prompt.theta",
            "ecs.layout",
            *SHORTLISTING,
            *EXTRACTION,
            *EMBEDDING,
        ),
    message:
        "Read the questions of {wildcards.dataset} under every configuration (memory {wildcards.memory})"
    script:
        "../../scripts/build_preferences.py"


rule train_policy:
    input:
        preferences=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/preferences.parquet",
        features=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/features.parquet",
    output:
        policy=f"results/{{corpus}}/{{dataset}}/policies/{REPLAYED}/{{policy}}/policy.safetensors",
        curves=f"results/{{corpus}}/{{dataset}}/policies/{REPLAYED}/{{policy}}/curves.parquet",
        record=f"results/{{corpus}}/{{dataset}}/policies/{REPLAYED}/{{policy}}/run.json",
    log:
        "logs/train_policy/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}-{memory}-{policy}.log",
    benchmark:
        "logs/train_policy/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}-{memory}-{policy}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params("train_policy", "memory.enabled", *keys_but("policy", *JUDGING)),
    message:
        "Train the compression policy on {wildcards.dataset} (memory {wildcards.memory})"
    script:
        "../../scripts/train_policy.py"


rule evaluate_policy:
    input:
        preferences=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/preferences.parquet",
        features=f"results/{{corpus}}/{{dataset}}/preferences/{REPLAYED}/features.parquet",
        policy=learnt_policy,
    output:
        question_metrics=f"results/{{corpus}}/{{dataset}}/policies/{REPLAYED}/{{policy}}/test/question_metrics.parquet",
        frontier=f"results/{{corpus}}/{{dataset}}/policies/{REPLAYED}/{{policy}}/test/frontier.parquet",
        record=f"results/{{corpus}}/{{dataset}}/policies/{REPLAYED}/{{policy}}/test/run.json",
    log:
        "logs/evaluate_policy/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}-{memory}-{policy}.log",
    benchmark:
        "logs/evaluate_policy/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{ecs}-{memory}-{policy}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "evaluate_policy",
            "memory.enabled",
            *(f"policy.{key}" for key in ("alpha", "beta", "gamma", "delta", "clip", "latency")),
            *(f"policy.{key}" for key in JUDGING),
        ),
    message:
        "Compare the policy of {wildcards.dataset} with what it has to beat"
    script:
        "../../scripts/evaluate_policy.py"


rule replay_sessions:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        blocks=f"results/{{corpus}}/{{dataset}}/prompts/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/blocks.parquet",
        edges=f"results/{{corpus}}/graph/{GRAPH}/edges.parquet",
        edge_sources=f"results/{{corpus}}/graph/{GRAPH}/edge_sources.parquet",
    output:
        question_metrics=f"results/{{corpus}}/{{dataset}}/sessions/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/{{memory}}/question_metrics.parquet",
        record=f"results/{{corpus}}/{{dataset}}/sessions/{GRAPH}/{{retriever}}/{{prompt}}/{{lm}}/{{memory}}/run.json",
    log:
        "logs/replay_sessions/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{memory}.log",
    benchmark:
        "logs/replay_sessions/{corpus}-{dataset}-{extractor}-{embedder}-{codebook}-{track}-{consolidation}-{retriever}-{prompt}-{lm}-{memory}.benchmark.tsv"
    threads: 1
    params:
        **leaf_params(
            "replay_sessions",
            "dataset.split",
            "memory.window",
            "memory.fresh",
            "prompt.budget",
            "lm.model",
            "eval.exact_min_content=default",
        ),
    message:
        "Go through the sessions of {wildcards.dataset} question by question"
    script:
        "../../scripts/replay_sessions.py"
