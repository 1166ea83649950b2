"""Names of lm_eval that need nothing of its dialect: registries, metrics, filters, bases of models, helpers."""
