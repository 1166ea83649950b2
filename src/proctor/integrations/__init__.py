"""Exams inside other systems. Each module needs its system installed, and is imported by it."""
