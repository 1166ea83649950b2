"""Exams as files: catalog JSON, task YAML, configs. Their folders are parts of their names."""
