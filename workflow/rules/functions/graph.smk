# What a graph is read from.


def shards(wildcards):
    """The triples of every shard of the documents."""
    return layout.triples(wildcards, option("extractor", wildcards.extractor).shards)


def triple_files(wildcards):
    """What an imported graph is read from: fetched files, or paths; none for the other front ends."""
    return raw(getattr(option("extractor", wildcards.extractor), "files", None) or ())


def alias_file(wildcards):
    """The file of forced and forbidden aliases, where the option names one."""
    path = option("consolidation", wildcards.consolidation).aliases
    return [path] if path else []


def walked(wildcards):
    """The names that a retriever walks over, where it walks."""
    if option("retriever", wildcards.retriever).walk == layout.NONE:
        return []
    return [f"results/{wildcards.corpus}/mentions/{GRAPH}/mentions.parquet".format(**wildcards)]
