"""Classes that programs import from OpenCompass and AISBench to make prompts, over our own artifacts."""
