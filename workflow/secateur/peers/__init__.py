"""Other systems: released packages in separate environments, and our versions after papers. Their prompts are traced."""
