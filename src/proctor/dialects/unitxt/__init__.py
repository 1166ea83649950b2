"""Unitxt: recipes and benchmarks as exams. The recipes themselves are the core's (``proctor.recipes``)."""
