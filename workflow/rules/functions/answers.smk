# Answers that are measured or judged.


def answer_shards(wildcards):
    """The answers of all shards of the sessions."""
    folder = layout.folder(wildcards)
    return layout.answers(folder, wildcards.source, wildcards.answer, option("answer", wildcards.answer).shards)
