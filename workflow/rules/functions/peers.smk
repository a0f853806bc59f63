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


def indexed_by(options):
    """The options of a peer's index: its own, or those of the option that says to be asked too."""
    own, owner = options["peer"], option("peer", options["peer"]).indexed_by
    if owner is None:
        return options
    if owner not in compose.names(CONF, "peer"):
        _stop(
            f"peer.indexed_by of conf/peer/{own}.yaml is {owner!r}. Fix: one of {', '.join(compose.names(CONF, 'peer'))}."
        )
    if plugins.named(option("peer", owner).adapter) != plugins.named(option("peer", own).adapter):
        _stop(
            f"peer.indexed_by of conf/peer/{own}.yaml is {owner!r}, of another kind. Fix: an option of the same kind."
        )
    return {**options, "peer": owner}


def index_of_peer(name):
    """A file of the index that a peer is asked with."""
    return of_options(lambda options: layout.indexed(indexed_by(options), name))
