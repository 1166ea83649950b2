"""Built-in artifacts, as data: one JSON file each, named by its path."""
