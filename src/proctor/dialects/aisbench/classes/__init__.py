"""Classes of OpenCompass and AISBench whose inside is this dialect's: datasets, evaluators, text functions, configs."""
