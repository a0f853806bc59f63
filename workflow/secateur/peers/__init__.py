"""Other systems, run as released in separate environments; their answering prompts give a ranking and a text."""
