"""Names of Unitxt's modules whose behaviour is of use to its programs only: a module here for each of its own."""
