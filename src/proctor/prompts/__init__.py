"""Prompts as people look at them before anything is sent: previews, the parts of a prompt, frequent mistakes."""
