"""Entropic Context Shaping: a passage's utility is how far it shifts the answer distribution (ECS, section 3)."""
