"""AISBench and OpenCompass configs: read without running them, and turned into recipes."""
