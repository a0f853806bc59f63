"""SLURM: submits jobs, reads their states, and stops those of a killed driver."""
