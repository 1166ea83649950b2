"""Unitxt's names for engines, thin classes over Proctor's own."""
