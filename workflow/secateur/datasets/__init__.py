"""Data sets: where their files come from, and how each becomes passages, questions and evidence."""
