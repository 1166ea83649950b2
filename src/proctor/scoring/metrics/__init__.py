"""The metrics, by family."""
