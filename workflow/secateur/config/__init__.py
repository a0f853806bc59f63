"""Declares the configuration: one frozen dataclass per Hydra group, read strictly."""
