# The data sets that a fitted scorer's weights come from.


def asked(options):
    """The data set whose questions these options ask; those of a control are another's."""
    return option("dataset", options["dataset"]).control_of or unlimited(options["dataset"])[0]


def sets_of(wildcards):
    """The options of the data set itself, then of those of `rankers.fitted_on` with another text and other questions."""
    base, count = layout.options_of(wildcards), unlimited(wildcards.dataset)[1]
    names = [name + (f"@{count}" if count else "") for name in option("rankers", wildcards.rankers).fitted_on]
    others = [base | {"dataset": name, "corpus": option("dataset", name).corpus} for name in names]
    return [base, *(other for other in others if other["corpus"] != base["corpus"] and asked(other) != asked(base))]


def of_sets(path):
    """An input function: a file of every data set."""
    return lambda wildcards: [path.format(**options) for options in sets_of(wildcards)]


def statistics_of_sets(wildcards):
    """All shards of the statistics of every data set."""
    count = option("ecs", wildcards.ecs).shards
    return [path for options in sets_of(wildcards) for path in layout.statistics(options, count)]
