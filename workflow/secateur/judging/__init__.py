"""What a language model says of answers and contexts, and what that is worth."""
