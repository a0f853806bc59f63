# Inputs of jobs that read what several jobs made.


def shards(path, group):
    """An input function: the files of all shards. path: function of options and number; group: whose `shards` counts."""
    return lambda wildcards: path(layout.options_of(wildcards), named(group, wildcards).shards)


def parts(path, group):
    """An input function: the parts of a table, which jobs of its own rule make where the group's `shards` is above 1.

    path: of the table, with the wildcard `part`.
    """

    def files(wildcards):
        count = 1 if wildcards.part else named(group, wildcards).shards
        return [path.format(**{**wildcards, "part": part}) for part in layout.parts(count)]

    return files
