"""Evaluators of OpenCompass and AISBench: from columns of answers to scores. ``names.json`` lists them."""
