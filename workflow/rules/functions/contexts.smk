# Inputs of contexts.


def form_of(options):
    """The plug-in that writes the contexts of an assembly."""
    return plugins.load("form", option("assembly", options["assembly"]).form["kind"])


def graph_table(name):
    """An input function: a table of the graph that a form writes from; none for a form that writes from the text."""
    return of_options(lambda options: layout.table_of_graph(name)(options) if form_of(options).NEEDS_GRAPH else [])


def sent_by_peer(options):
    """The texts that a peer sends its reader, for a form that repeats them."""
    return layout.sent(options) if form_of(options).NEEDS_SENT else []


def imported_file(wildcards):
    """The user's file of contexts."""
    name = wildcards.imported
    return or_stop(sources.existing)(
        option("system", name).contexts, f"`contexts` in conf/system/{name}.yaml names a JSONL file"
    )


def lengths_of(options):
    """The contexts made elsewhere whose tokens these may have; none for contexts within budgets."""
    name = options.get(layout.LENGTH)
    if not name:
        return []
    system = option("system", name)
    theirs = {"family": layout.IMPORTED, "imported": name, "order": system.orders[0], "assembly": system.assembly}
    return f"{layout.folder(options)}/{layout.source({**options, **theirs, layout.LENGTH: ''})}/contexts.parquet"
