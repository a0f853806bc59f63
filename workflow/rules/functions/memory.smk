# The policy that chooses within a session.


def acting_policy(wildcards):
    """The policy that chooses what an answered prompt shows, where there is one."""
    studied = option("memory", wildcards.memory).policy_of
    return [learnt_policy(layout.options_of(wildcards) | {"memory": studied})] if studied else []


def sight_of_policy(wildcards):
    """The candidates whose scores such a policy sees."""
    own = "results/{corpus}/{dataset}/rankings/{ranking}/candidates.parquet".format(**wildcards)
    return [own] if option("memory", wildcards.memory).policy_of else []
