# Inputs of graphs, and of stages that read a graph.


def of_graph(table):
    """An input function: a table of the graph that a job's options name."""
    return of_options(layout.table_of_graph(table))


def triple_files(wildcards):
    """The files of an imported graph: fetched files, or paths; none for other extractors."""
    files = getattr(option("extractor", wildcards.extractor), "files", None)
    return or_stop(sources.listed_files)(files or ())


def alias_file(wildcards):
    """The file of forced and forbidden aliases, if the option names one."""
    return option("consolidation", wildcards.consolidation).aliases or []


def mentions_to_walk(wildcards):
    """The names in passages, for a retriever that walks over them."""
    walks = option("retriever", wildcards.retriever).walk != layout.NONE
    return layout.mentions(wildcards) if walks else []
