# What is there of an experiment that has not ended: its page shows that, and says what is not.

UNFINISHED = bool(config.get("unfinished"))
PLACE = str(Path("results/experiments", EXPERIMENT, "unfinished" if UNFINISHED else ""))


def there(*paths):
    """Whether the page can show what stands in these files; of an experiment that is run to its end it can."""
    return not UNFINISHED or all(os.path.exists(path) for path in paths)


def missing_rows(_):
    """The rows that are not there, or not whole: what of each is missing, by the folder it will stand in."""
    found = []
    for v in PLANNED:
        absent = [path.split("/")[3] for path in planned_files(v) if not there(path)]
        if absent:
            found.append(labelled(v) | {"absent": absent})
    return found
