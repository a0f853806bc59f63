# Runs other systems as released: an environment, an index, and the context of each question.


include: "functions/peers.smk"


PEER = layout.pattern(layout.FAMILIES["peer"])
INDEX = f"results/{{corpus}}/peers/{PEER}"
ASKED = f"results/{{corpus}}/{{dataset}}/rankings/peer/{PEER}"


rule prepare_peer:
    input:
        requirements=requirements_of_peer,
    output:
        environment="results/peers/{environment}/environment.json",
        record="results/peers/{environment}/run.json",
    log:
        "logs/prepare_peer/{environment}.log",
    threads: 1
    params:
        **leaf_params("prepare_peer"),
    message:
        "Install the environment {wildcards.environment}"
    script:
        "../../scripts/prepare_peer.py"


rule index_peer:
    input:
        passages=PASSAGES,
        triples=shards(layout.triples, "extractor"),
        environment=environment_of_peer,
    output:
        workspace=f"{INDEX}/workspace.zip",
        peer_costs=f"{INDEX}/peer_costs.parquet",
        record=f"{INDEX}/run.json",
    log:
        "logs/index_peer/{corpus}-{peer}-{service}-{extractor}-{embedder}.log",
    threads: 1
    params:
        **leaf_params("index_peer", "peer", "service", *slices.EMBEDDING, tokenizer=peer_tokenizer),
    message:
        "Index {wildcards.corpus} with {wildcards.peer}"
    script:
        "../../scripts/index_peer.py"


rule ask_peer:
    input:
        passages=PASSAGES,
        questions=QUESTIONS,
        triples=shards(layout.triples, "extractor"),
        question_triples="results/{corpus}/{dataset}/triples/{extractor}/triples.parquet",
        environment=environment_of_peer,
        workspace=index_of_peer("workspace.zip"),
        peer_costs=index_of_peer("peer_costs.parquet"),
    output:
        sent=f"{ASKED}/sent.parquet",
        rankings=f"{ASKED}/rankings.parquet",
        question_metrics=f"{ASKED}/question_metrics.parquet",
        peer_asked=f"{ASKED}/peer_asked.parquet",
        record=f"{ASKED}/run.json",
    log:
        "logs/ask_peer/{corpus}-{dataset}-{peer}-{service}-{extractor}-{embedder}.log",
    threads: 1
    params:
        **leaf_params("ask_peer", "peer", "service", *slices.EMBEDDING, tokenizer=peer_tokenizer),
    message:
        "Ask {wildcards.peer} the questions of {wildcards.dataset}"
    script:
        "../../scripts/ask_peer.py"
