"""Models as judges of predictions."""
