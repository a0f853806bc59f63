# Inputs of a memory that a policy controls.


def acting_policy(wildcards):
    """The policy that selects what a prompt shows; none without `memory.policy_of`."""
    memory = option("memory", wildcards.memory).policy_of
    return trained_policy(layout.options_of(wildcards) | {"memory": memory}) if memory else []


def policy_candidates(wildcards):
    """The candidates whose scores that policy reads."""
    acts = option("memory", wildcards.memory).policy_of
    return layout.candidates(layout.options_of(wildcards)) if acts else []
