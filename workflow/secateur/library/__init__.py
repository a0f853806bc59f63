"""The pipeline's parts for a program of one's own: no Snakemake, no files."""
