"""Programs written for other systems, run by Proctor.

``python -m proctor.compat program.py arguments…`` runs a program unchanged; or call :func:`install` before it imports
anything. Imports of ``unitxt`` are then answered by Proctor, whether Unitxt is installed or not; imports of names that
no release of ``lm_eval`` has (its templates) too, and what makes prompts in ``opencompass`` and ``ais_bench``, with the
configs of ``mmengine`` where it is not installed.
HELM, where it is installed, runs recipes.
"""

from __future__ import annotations

from proctor.artifacts.artifact import class_checks
from proctor.artifacts.deprecations import warn_of_deprecations
from proctor.compat.aliases import Alias, install_alias, uninstall_alias

__all__ = ["Alias", "install", "install_alias", "uninstall"]


def install() -> None:
    """Answer imports of other systems from now on.

    Raises:
        ImportError: One of these packages has been imported already.
    """
    from proctor.compat.helm import HELM, has_helm
    from proctor.compat.hugging_face import install_hugging_face
    from proctor.compat.lm_eval import LM_EVAL
    from proctor.compat.opencompass import AIS_BENCH, MMENGINE, OPENCOMPASS
    from proctor.compat.unitxt import UNITXT
    from proctor.compat.unitxt_overrides import refuse_overrides

    if refuse_overrides not in class_checks:
        class_checks.append(refuse_overrides)
    warn_of_deprecations(True)
    install_alias(UNITXT)
    install_alias(LM_EVAL)
    install_alias(OPENCOMPASS)
    install_alias(AIS_BENCH)
    install_alias(MMENGINE)
    if has_helm():
        install_alias(HELM)
    install_hugging_face()


def uninstall() -> None:
    """Take back :func:`install`."""
    from proctor.compat.hugging_face import uninstall_hugging_face

    class_checks.clear()
    warn_of_deprecations(False)
    uninstall_alias("unitxt")
    uninstall_alias("lm_eval")
    uninstall_alias("opencompass")
    uninstall_alias("ais_bench")
    uninstall_alias("mmengine")
    uninstall_alias("helm")
    uninstall_hugging_face()
