"""Models that transformers can load, in this process: loading, batches, shared prefixes, generation."""
