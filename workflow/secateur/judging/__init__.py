"""Answers and contexts judged by a language model, with controls of the judge."""
