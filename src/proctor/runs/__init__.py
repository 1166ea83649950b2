"""Runs on disk, for whoever reads them: what a folder says, search in its samples, comparison of two."""
