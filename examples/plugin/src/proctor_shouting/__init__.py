"""A sample plugin of Proctor: one of each kind."""
