"""Exams of the Hugging Face hub: ``eval.yaml`` in a dataset's folder, as inspect reads them."""
