"""Entropic Context Shaping: the utility of a piece of context is how far it moves the answer (ECS, section 3)."""
