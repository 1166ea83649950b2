"""Classes and functions that code written for OpenCompass and AISBench imports, over Proctor's own."""
