"""Names of Unitxt that are not artifacts of Proctor's own."""
