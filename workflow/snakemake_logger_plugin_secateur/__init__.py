"""Snakemake's logger whose events `secateur` reads: lines of JSON in the file that SECATEUR_EVENTS names.

    SECATEUR_EVENTS=events.jsonl snakemake --logger secateur

It stands beside Snakemake's own output, which stays as it is. Without the variable it writes nothing.
"""

import logging

from snakemake_interface_logger_plugins.base import LogHandlerBase

from secateur.core.events import emit

__all__ = ["LogHandler"]

PYTHONS = {*vars(logging.makeLogRecord({})), "event", "message"} - {"msg"}  # attributes that every record has


class LogHandler(LogHandlerBase):
    """Writes each event with all its fields, whatever Snakemake is told to be quiet about."""

    writes_to_stream = writes_to_file = needs_rulegraph = False
    has_filter = has_formatter = True

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record that is an event; other records are text."""
        if event := getattr(record, "event", None):
            emit(event, **{name: value for name, value in vars(record).items() if name not in PYTHONS})
