# Remembers across the questions of a session: contexts with memory, and the tokens that memory saves.


include: "functions/memory.smk"


rule recall_context:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        triples=of_options(layout.question_triples),
        entities=of_options(layout.table_of_graph("entities")),
        relations=of_options(layout.table_of_graph("relations")),
        edges=of_options(layout.table_of_graph("edges")),
        aliases=of_options(layout.table_of_graph("aliases")),
        contexts="results/{corpus}/{dataset}/contexts/{ranking}/{pick}/{reranker}/{book}/{assembly}.{lm}/contexts.parquet",
        candidates=policy_candidates,
        policy=acting_policy,
        model="results/models/{lm}/model.json",
    output:
        contexts=f"results/{{corpus}}/{{dataset}}/recalled/{{ranking}}/{{pick}}/{{reranker}}/{{book}}/{layout.pattern(layout.RECALLED)}/{{assembly}}.{{lm}}/contexts.parquet",
        memories=f"results/{{corpus}}/{{dataset}}/recalled/{{ranking}}/{{pick}}/{{reranker}}/{{book}}/{layout.pattern(layout.RECALLED)}/{{assembly}}.{{lm}}/memories.parquet",
        session_edges=f"results/{{corpus}}/{{dataset}}/recalled/{{ranking}}/{{pick}}/{{reranker}}/{{book}}/{layout.pattern(layout.RECALLED)}/{{assembly}}.{{lm}}/session_edges.parquet",
        record=f"results/{{corpus}}/{{dataset}}/recalled/{{ranking}}/{{pick}}/{{reranker}}/{{book}}/{layout.pattern(layout.RECALLED)}/{{assembly}}.{{lm}}/run.json",
    log:
        "logs/recall_context/{corpus}-{dataset}-{ranking}-{pick}-{reranker}-{book}-{memory}-{ecs}-{policy}-{answer}-{assembly}-{lm}.log",
    threads: 1
    params:
        **leaf_params(
            "recall_context",
            "dataset.split",
            "dataset.answered",
            "assembly.budget",
            "assembly.form",
            "ecs.layout",
            *slices.DRAWING,
            "lm",
            *slices.keys_of("memory", "questions", "answers", "window", "fresh", "theta"),
            *slices.keys_but("answer", "shards", "refusals"),
            *slices.RECALL,
            *slices.ANSWER_TRIPLES,
            *slices.EMBEDDING,
        ),
    message:
        "Answer the sessions of {wildcards.dataset} with memory {wildcards.memory}"
    script:
        "../../scripts/recall_context.py"


rule replay_sessions:
    input:
        passages="results/{corpus}/passages/passages.parquet",
        questions="results/{corpus}/{dataset}/questions/questions.parquet",
        evidence="results/{corpus}/{dataset}/questions/evidence.parquet",
        contexts=CONTEXTS,
        edges=of_options(layout.table_of_graph("edges")),
        edge_sources=of_options(layout.table_of_graph("edge_sources")),
    output:
        question_metrics="results/{corpus}/{dataset}/sessions/{source}/{memory}/question_metrics.parquet",
        record="results/{corpus}/{dataset}/sessions/{source}/{memory}/run.json",
    log:
        "logs/replay_sessions/{corpus}-{dataset}-{source}-{memory}.log",
    threads: 1
    params:
        **leaf_params(
            "replay_sessions",
            "dataset.split",
            "memory.window",
            "memory.fresh",
            "assembly.budget",
            "lm.model",
            slices.MEASURING,
            order=order_of,
        ),
    message:
        "Replay the sessions of {wildcards.dataset} with memory {wildcards.memory}"
    script:
        "../../scripts/replay_sessions.py"
