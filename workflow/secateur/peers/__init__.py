"""Other systems, run as released in environments of their own: what they give their reader becomes a ranking and a text."""
