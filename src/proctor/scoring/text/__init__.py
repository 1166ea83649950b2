"""Text functions and processors: from what a model wrote to what is scored."""
