# What contexts are assembled from.


def form_of(options):
    """The kind of form of an assembly."""
    return plugins.load("form", option("assembly", options["assembly"]).form["kind"])


def graph_table(name):
    """A table of the graph that a form writes from; none for a form that writes from the text alone."""

    def found(options):
        if not form_of(options).NEEDS_GRAPH:
            return []
        return [f"results/{options['corpus']}/{layout.graph_folder(name, options)}/{name}.parquet"]

    return of_options(found)


def sent_elsewhere(options):
    """What another system gives its reader, for a form that sends just that."""
    return [layout.sent(options)] if form_of(options).NEEDS_SENT else []


def contexts_elsewhere(wildcards):
    """The file of contexts that were made elsewhere."""
    name = wildcards.imported
    return made_elsewhere(option("system", name).contexts, f"`contexts` in conf/system/{name}.yaml names a JSONL file")
