# Answers that are measured or judged.


def answer_shards(wildcards):
    """The answers of all shards of the sessions."""
    folder = layout.folder(wildcards)
    return layout.answers(folder, wildcards.source, wildcards.answer, option("answer", wildcards.answer).shards)


def sees_gold(wildcards):
    """Whether a source's ranker reads the gold evidence: without any, a question has no context of it."""
    options = layout.options_of(wildcards)
    if options["family"] != "lexical":
        return False
    spec = option("rankers", options["rankers"]).scorers.get(options["pick"])
    return spec is not None and plugins.load("ranker", spec["kind"]).READS_GOLD
