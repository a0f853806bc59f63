# Where a policy is trained, and who judges the answers that it is taught by.


def trained_policy(options):
    """The file of a policy, trained on the data set itself or on `policy.trained_on`."""
    dataset = option("policy", options["policy"]).trained_on or options["dataset"]
    corpus = option("dataset", dataset).corpus
    return f"{layout.policies(options | {'dataset': dataset, 'corpus': corpus})}/policy.safetensors"


def policy_judge(wildcards):
    """The judge of faithfulness as plain data; None for the reader."""
    name = option("ecs", wildcards.ecs).policy_judge
    return dict(vars(option("judge", name))) if name else None


def policy_judge_lm(wildcards):
    """The judge's option of conf/lm; None for an endpoint and for the reader."""
    return (policy_judge(wildcards) or {}).get("lm")


def policy_judge_model(wildcards):
    """The weights of a judge in process."""
    lm = policy_judge_lm(wildcards)
    return layout.model({"lm": lm}) if lm else []


def policy_judge_options(wildcards):
    """The judge's option of conf/lm as plain data."""
    return model_options(policy_judge_lm(wildcards))


def policy_judge_reader(wildcards):
    """The code digest of the plug-in that reads the judge."""
    return reader_code(policy_judge_lm(wildcards))
