"""What programs import from AISBench beside prompts: its errors, registries, evaluators, post-processors."""
