# Where answers are read from, and who wrote them.


def answer_shards(wildcards):
    """The answers of every shard of the sessions."""
    folder = f"results/{wildcards.corpus}/{wildcards.dataset}"
    return layout.answers(folder, wildcards.source, wildcards.answer, option("answer", wildcards.answer).shards)


def reader_model(options):
    """The weights of the reader of a source."""
    return f"results/models/{options['lm']}/model.json"
