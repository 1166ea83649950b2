"""Text post-processors by family: functions from a model's words to an answer. ``postprocessors.json`` names them."""
