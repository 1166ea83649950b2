"""Code of other people that runs here: where it finds the names of the packages that it was written for."""
