"""The configuration, declared once: one frozen dataclass per Hydra group, read strictly."""
