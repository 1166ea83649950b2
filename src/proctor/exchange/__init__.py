"""Runs in the formats of others: written for them, and read from them."""
