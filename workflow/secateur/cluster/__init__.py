"""SLURM: how jobs stand, submitting them, and what a driver that was killed left behind."""
