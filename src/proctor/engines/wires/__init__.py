"""How servers want to be asked: one module per wire protocol, each with one class that turns a request into calls."""
