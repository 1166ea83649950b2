"""Evaluators of OpenCompass and AISBench: from columns of answers to scores. ``evaluators.json`` names them."""
