# Trains the compression policy: configurations of training questions -> utilities -> DPO -> test questions (section 2.8).


include: "functions/policy.smk"


PREFERENCES = f"results/{{corpus}}/{{dataset}}/preferences/{{source}}/{LEARNT}"
POLICY = f"results/{{corpus}}/{{dataset}}/policies/{{source}}/{LEARNT}/{{policy}}"


rule build_preferences:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        triples=of_options(layout.question_triples),
        entities=of_graph("entities"),
        relations=of_graph("relations"),
        edges=of_graph("edges"),
        aliases=of_graph("aliases"),
        candidates=of_options(layout.candidates),
        contexts=CONTEXTS,
        model=of_options(layout.model),
        judge=of_lm(model_file, policy_judge_lm),
    output:
        preferences=f"{PREFERENCES}/preferences.parquet",
        features=f"{PREFERENCES}/features.parquet",
        memories=f"{PREFERENCES}/memories.parquet",
        session_edges=f"{PREFERENCES}/session_edges.parquet",
        record=f"{PREFERENCES}/run.json",
    log:
        "logs/build_preferences/{corpus}-{dataset}-{source}-{ecs}-{memory}.log",
    priority: 1
    threads: 1
    params:
        **leaf_params(
            "build_preferences",
            *slices.READER,
            *slices.keys_but("memory", "window", "fresh", "policy_of"),
            *(f"{key}=default" for key in slices.WRITING),
            "answer.refusals=default",
            "dataset.trained",
            *slices.keys_of("ecs", "policy_budgets", "policy_judge"),
            "assembly.form",
            "ecs.layout",
            *slices.DRAWING,
            *slices.RECALL,
            *slices.ANSWER_TRIPLES,
            *slices.EMBEDDING,
            judge=policy_judge,
            judge_model=of_lm(model_options, policy_judge_lm),
            judge_reader=of_lm(reader_code, policy_judge_lm),
        ),
    message:
        "Read the questions of {wildcards.dataset} under every configuration (memory {wildcards.memory})"
    script:
        "../../scripts/build_preferences.py"


rule train_policy:
    input:
        preferences=f"{PREFERENCES}/preferences.parquet",
        features=f"{PREFERENCES}/features.parquet",
    output:
        policy=f"{POLICY}/policy.safetensors",
        curves=f"{POLICY}/curves.parquet",
        record=f"{POLICY}/run.json",
    log:
        "logs/train_policy/{corpus}-{dataset}-{source}-{ecs}-{memory}-{policy}.log",
    threads: 1
    params:
        **leaf_params(
            "train_policy", "memory.enabled", "lm.seconds", *slices.keys_but("policy", "trained_on", *slices.JUDGING)
        ),
    message:
        "Train the compression policy on {wildcards.dataset} (memory {wildcards.memory})"
    script:
        "../../scripts/train_policy.py"


rule evaluate_policy:
    input:
        preferences=f"{PREFERENCES}/preferences.parquet",
        features=f"{PREFERENCES}/features.parquet",
        policy=of_options(trained_policy),
    output:
        question_metrics=f"{POLICY}/test/question_metrics.parquet",
        frontier=f"{POLICY}/test/frontier.parquet",
        record=f"{POLICY}/test/run.json",
    log:
        "logs/evaluate_policy/{corpus}-{dataset}-{source}-{ecs}-{memory}-{policy}.log",
    threads: 1
    params:
        **leaf_params("evaluate_policy", "memory.enabled", "lm.seconds", *slices.WEIGHING, order=order_of),
    message:
        "Compare the policy of {wildcards.dataset} with its baselines"
    script:
        "../../scripts/evaluate_policy.py"
