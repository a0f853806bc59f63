# Inputs of other systems.

from secateur.planning.contents import indexed_options


def requirements_of_peer(wildcards):
    """Requirements of an environment, and those that are installed without dependencies (NAME.alone.txt)."""
    folder = ROOT / "envs" / "peers"
    whole = or_stop(sources.existing)(folder / f"{wildcards.environment}.txt", "conf/peer names a file of envs/peers")
    alone = folder / f"{wildcards.environment}.alone.txt"
    return [str(path) for path in (whole, alone) if path.is_file()]


def environment_of_peer(wildcards):
    """The environment of a peer; none if it runs in this project's."""
    name = option("peer", wildcards.peer).environment
    return f"results/peers/{name}/environment.json" if name else []


def peer_tokenizer(_):
    """The tokenizer that counts the tokens of all peers: the default reader's."""
    return option("lm", option("system", "secateur").reader).model


def index_of_peer(name):
    """An input function: a file of the index that a peer answers from."""
    return of_options(lambda options: layout.indexed(indexed_options(option, options), name))
