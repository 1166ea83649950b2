"""Grading an exam: what a dialect says about it, one pass over the answers, one grade of what scorers measured."""
