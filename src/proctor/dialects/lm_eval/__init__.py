"""lm-evaluation-harness task files: read, run, written and converted."""
