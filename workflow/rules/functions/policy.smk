# Where a policy was learnt.


def learnt_policy(options):
    """The file of a policy: learnt on the data set itself, or on the one that policy.trained_on names."""
    dataset = option("policy", options["policy"]).trained_on or options["dataset"]
    own = options | {"dataset": dataset, "corpus": option("dataset", dataset).corpus}
    return f"{layout.policies(own)}/policy.safetensors"
