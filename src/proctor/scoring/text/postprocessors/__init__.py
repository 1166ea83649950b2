"""Text post-processors by family: functions from a model's words to an answer. ``names.json`` lists them."""
