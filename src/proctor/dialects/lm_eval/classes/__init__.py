"""Classes of lm_eval whose inside is this dialect's: tasks, configurable tasks, samplers."""
