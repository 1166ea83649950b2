"""The protocols that providers speak, one module each, with one class that turns a request into calls."""
