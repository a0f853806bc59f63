"""Questions answered by a language model under a context: prompt, generation, scores."""
