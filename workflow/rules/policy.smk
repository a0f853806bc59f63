# Trains the compression policy: configurations of training questions -> utilities -> DPO -> test questions (section 2.8).


include: "functions/policy.smk"


rule build_preferences:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        triples=of_options(layout.question_triples),
        entities=of_options(layout.table_of_graph("entities")),
        relations=of_options(layout.table_of_graph("relations")),
        edges=of_options(layout.table_of_graph("edges")),
        aliases=of_options(layout.table_of_graph("aliases")),
        candidates=of_options(layout.candidates),
        contexts=CONTEXTS,
        model=of_options(layout.model),
    output:
        preferences=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/preferences.parquet",
        features=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/features.parquet",
        memories=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/memories.parquet",
        session_edges=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/session_edges.parquet",
        record=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/run.json",
    log:
        "logs/build_preferences/{corpus}-{dataset}-{source}-{ecs}-{memory}.log",
    threads: 1
    params:
        **leaf_params(
            "build_preferences",
            "lm",
            *slices.keys_but("memory", "window", "fresh", "policy_of"),
            *(f"{key}=default" for key in slices.WRITING),
            "dataset.trained",
            "assembly.budget",
            "assembly.form",
            "ecs.layout",
            *slices.DRAWING,
            *slices.RECALL,
            *slices.ANSWER_TRIPLES,
            *slices.EMBEDDING,
        ),
    message:
        "Read the questions of {wildcards.dataset} under every configuration (memory {wildcards.memory})"
    script:
        "../../scripts/build_preferences.py"


rule train_policy:
    input:
        preferences=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/preferences.parquet",
        features=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/features.parquet",
    output:
        policy=f"results/{{corpus}}/{{dataset}}/policies/{{source}}/{LEARNT}/{{policy}}/policy.safetensors",
        curves=f"results/{{corpus}}/{{dataset}}/policies/{{source}}/{LEARNT}/{{policy}}/curves.parquet",
        record=f"results/{{corpus}}/{{dataset}}/policies/{{source}}/{LEARNT}/{{policy}}/run.json",
    log:
        "logs/train_policy/{corpus}-{dataset}-{source}-{ecs}-{memory}-{policy}.log",
    threads: 1
    params:
        **leaf_params("train_policy", "memory.enabled", *slices.keys_but("policy", "trained_on", *slices.JUDGING)),
    message:
        "Train the compression policy on {wildcards.dataset} (memory {wildcards.memory})"
    script:
        "../../scripts/train_policy.py"


rule evaluate_policy:
    input:
        preferences=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/preferences.parquet",
        features=f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}/features.parquet",
        policy=of_options(trained_policy),
    output:
        question_metrics=f"results/{{corpus}}/{{dataset}}/policies/{{source}}/{LEARNT}/{{policy}}/test/question_metrics.parquet",
        frontier=f"results/{{corpus}}/{{dataset}}/policies/{{source}}/{LEARNT}/{{policy}}/test/frontier.parquet",
        record=f"results/{{corpus}}/{{dataset}}/policies/{{source}}/{LEARNT}/{{policy}}/test/run.json",
    log:
        "logs/evaluate_policy/{corpus}-{dataset}-{source}-{ecs}-{memory}-{policy}.log",
    threads: 1
    params:
        **leaf_params("evaluate_policy", "memory.enabled", *slices.WEIGHING, order=order_of),
    message:
        "Compare the policy of {wildcards.dataset} with its baselines"
    script:
        "../../scripts/evaluate_policy.py"
