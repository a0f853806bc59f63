"""Tables of tracking: variants and jobs as MLflow shows them."""

from secateur.core.tables.table import I32, B, Column, S, Table

__all__ = ["DECLARED"]

DECLARED = (
    Table(
        "variant_runs",
        2,
        "Runs that MLflow shows: settings, costs and figures of one variant under one fingerprint.",
        "track_variants, secateur track",
        ("experiment", "dataset", "system", "order", "fingerprint"),
        {
            "experiment": Column(S, "experiment"),
            "dataset": Column(S, "data set"),
            "system": Column(S, "system or variant"),
            "order": Column(S, "blind or aware; null if each of its rows has its order", True),
            "fingerprint": Column(S, "digest of settings, code and inputs of all stages behind the figures"),
            "whole": Column(S, "digest of the fingerprints of the last experiment that included it"),
            "place": Column(I32, "place among the runs of the same row by the time they were current, from 0"),
            "started": Column(S, "start of its first stage, ISO 8601"),
            "finished": Column(S, "end of its last stage, ISO 8601"),
            "params": Column(
                S, "JSON: data set, system and order, and options and settings that differ from the defaults"
            ),
            "config": Column(S, "JSON: settings, code digests and inputs by stage"),
            "metrics": Column(S, "JSON: name, value and step of each metric"),
            "figures": Column(S, "CSV: the rows of the table metrics, of every scorer"),
            "data": Column(S, "JSON: name, digest and source of the questions"),
        },
    ),
    Table(
        "job_runs",
        1,
        "Every stage record in the results, failures included.",
        "secateur track",
        ("experiment", "job"),
        {
            "experiment": Column(S, "experiment"),
            "job": Column(S, "digest of the record"),
            "stage": Column(S, "rule"),
            "finished": Column(S, "end, ISO 8601"),
            "failed": Column(B, "whether the stage failed"),
            "record": Column(S, "JSON: run.json or failure.json"),
        },
    ),
)
