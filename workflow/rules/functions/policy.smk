# Where a policy is trained.


def trained_policy(options):
    """The file of a policy, trained on the data set itself or on `policy.trained_on`."""
    dataset = option("policy", options["policy"]).trained_on or options["dataset"]
    corpus = option("dataset", dataset).corpus
    return f"{layout.policies(options | {'dataset': dataset, 'corpus': corpus})}/policy.safetensors"
