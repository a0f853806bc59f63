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
