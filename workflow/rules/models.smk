# Converts language models to a form that loads fast; rules that load one depend on it.


include: "functions/models.smk"


rule prepare_model:
    output:
        model="results/models/{lm}/model.json",
        record="results/models/{lm}/run.json",
    log:
        "logs/prepare_model/{lm}.log",
    priority: 1
    threads: 1
    params:
        **leaf_params("prepare_model", "lm.model", in_process=read_in_process, weights=weights_of),
    message:
        "Prepare the weights of {wildcards.lm}"
    script:
        "../../scripts/prepare_model.py"
