# Language models in the form that loads fast; what loads one comes after its rule.


include: "functions/models.smk"


rule prepare_model:
    output:
        model="results/models/{lm}/model.json",
        record="results/models/{lm}/run.json",
    log:
        "logs/prepare_model/{lm}.log",
    threads: 1
    params:
        **leaf_params("prepare_model", "lm.model", in_process=read_here),
    message:
        "Prepare the weights of {wildcards.lm}"
    script:
        "../../scripts/prepare_model.py"
