"""Instructions that answers follow or not: those of IFEval and IFBench."""
