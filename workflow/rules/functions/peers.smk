# What another system is run with.


def requirements_of_peer(wildcards):
    """The packages of an environment, and those that are installed without what they ask for."""
    folder = ROOT / "envs" / "peers"
    whole = made_elsewhere(folder / f"{wildcards.environment}.txt", "conf/peer names a file of envs/peers")
    alone = folder / f"{wildcards.environment}.alone.txt"
    return [str(path) for path in (whole, alone) if path.is_file()]


def environment_of_peer(wildcards):
    """Where a peer's Python stands; this project's own where it needs no other."""
    name = option("peer", wildcards.peer).environment
    return [f"results/peers/{name}/environment.json"] if name else []


def peer_tokenizer(_):
    """Whose tokens the costs of all peers are counted in: those of the default reader."""
    return option("lm", option("system", "secateur").reader).model
