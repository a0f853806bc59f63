# Where answers are read from, and who wrote them.


def answer_shards(wildcards):
    """The answers of every shard of the sessions."""
    count = option("answer", wildcards.answer).shards
    folder = "results/{corpus}/{dataset}/answers/{source}/{answer}".format(**wildcards)
    return [f"{folder}/{n}of{count}/answers.parquet" for n in range(count)]


def reader_model(options):
    """The weights of the reader of a source."""
    return f"results/models/{options['lm']}/model.json"
