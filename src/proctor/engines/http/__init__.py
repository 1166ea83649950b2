"""Models behind HTTP: providers, their protocols, retries, rate limits."""
