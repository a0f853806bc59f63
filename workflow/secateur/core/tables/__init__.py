"""Declarations of every table of the pipeline, a module for each room."""
