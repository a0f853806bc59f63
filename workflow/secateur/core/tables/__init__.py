"""Every table of the pipeline, declared once, one module a room."""
