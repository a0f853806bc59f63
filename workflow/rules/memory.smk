# Remembers across the questions of a session: contexts with memory, and the tokens that memory saves.


include: "functions/memory.smk"


MEMORY = layout.pattern(layout.RECALLED)
RECALLED = (
    f"results/{{corpus}}/{{dataset}}/recalled/{{ranking}}/{{pick}}/{{reranker}}/{{book}}/{MEMORY}/{{assembly}}.{{lm}}"
)


rule recall_context:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        triples=of_options(layout.question_triples),
        entities=of_graph("entities"),
        relations=of_graph("relations"),
        edges=of_graph("edges"),
        aliases=of_graph("aliases"),
        contexts=f"{ASSEMBLED}/contexts.parquet".replace("{length}", ""),
        candidates=policy_candidates,
        policy=acting_policy,
        model="results/models/{lm}/model.json",
    output:
        contexts=f"{RECALLED}/contexts.parquet",
        memories=f"{RECALLED}/memories.parquet",
        session_edges=f"{RECALLED}/session_edges.parquet",
        record=f"{RECALLED}/run.json",
    log:
        "logs/recall_context/{corpus}-{dataset}-{ranking}-{pick}-{reranker}-{book}-{memory}-{ecs}-{policy}-{answer}-{assembly}-{lm}.log",
    priority: 1
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
            *slices.READER,
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
        passages=PASSAGES,
        questions=QUESTIONS,
        evidence=EVIDENCE,
        contexts=CONTEXTS,
        edges=of_graph("edges"),
        edge_sources=of_graph("edge_sources"),
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
            "assembly.placement",
            "lm.model",
            slices.MEASURING,
            order=order_of,
        ),
    message:
        "Replay the sessions of {wildcards.dataset} with memory {wildcards.memory}"
    script:
        "../../scripts/replay_sessions.py"
