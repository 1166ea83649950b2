"""Tables of names, one for each package."""
