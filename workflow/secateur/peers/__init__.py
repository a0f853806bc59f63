"""Other systems, run as released in environments of their own; the context of their reader gives a ranking and a text."""
