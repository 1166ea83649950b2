"""Mathematical answers: formulas and numbers that mean the same."""
