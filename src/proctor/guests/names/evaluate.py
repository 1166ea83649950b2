"""Names of the package ``evaluate``, and where Proctor has them."""

from __future__ import annotations

from proctor.guests.table import Table

EVALUATE = Table("evaluate", {"evaluate": {"proctor.guests.evaluate": "load"}}, is_library=True)
