"""One module per rule: `run(cfg, inputs, outputs, ctx)` joins tables to algorithms, and nothing else."""
