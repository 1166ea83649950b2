"""Programs written for other systems, run by Proctor.

``python -m proctor.compat program.py arguments…`` runs a program unchanged; or call :func:`install` before it imports
anything. Imports of ``unitxt``, ``lm_eval``, ``opencompass``, ``ais_bench``, ``mmengine`` and ``evaluate`` are then
answered by Proctor, whether these are installed or not (:mod:`proctor.guests`). HELM, where it is installed, runs
recipes.
"""

from __future__ import annotations

from typing import Final

from proctor.guests.finder import GuestFinder

__all__ = ["install", "uninstall"]

_PREPARE: Final = {"unitxt": "proctor.guests.unitxt.overrides:check_classes"}
_AFTER: Final = {
    "datasets": "proctor.guests.hugging_face:answer_recipes",
    "helm.benchmark.metrics.unitxt_metrics": "proctor.guests.helm:give_asked_rows",
}
_installed: list[GuestFinder] = []


def install() -> None:
    """Answer imports of other systems from now on.

    Raises:
        ImportError: One of these packages has been imported already.
    """
    if not _installed:
        finder = GuestFinder(_PREPARE, _AFTER)
        finder.install()
        _installed.append(finder)


def uninstall() -> None:
    """Take back :func:`install`."""
    while _installed:
        _installed.pop().uninstall()
