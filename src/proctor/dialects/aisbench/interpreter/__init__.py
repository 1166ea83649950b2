"""An interpreter of the part of Python that configs are written in: it computes values and acts on nothing."""
