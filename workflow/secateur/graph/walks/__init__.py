"""Walks: rankings that take several steps over the graph. A file is a plug-in."""
