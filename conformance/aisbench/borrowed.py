"""Upstream's own modules without the rest of upstream: OpenCompass from an unzipped wheel, AISBench as installed.

Runs in AISBench's environment. OpenCompass's packages import everything they have; here each package is an empty one
that only knows where its modules lie, so that single modules load.
"""

from __future__ import annotations

import ast
import importlib
import importlib.machinery
import sys
import types
from pathlib import Path
from typing import Any

PACKAGES = (
    "",
    "datasets",
    "openicl",
    "openicl.icl_evaluator",
    "openicl.icl_inferencer",
    "openicl.icl_retriever",
    "utils",
    "summarizers",
    "models",
)


class Anything:
    """Stands for whatever a module imports and does not use here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        """Take anything."""


class _Lenient(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Anything


def borrow_opencompass(wheel: Path) -> None:
    """Make single modules of an unzipped wheel of OpenCompass importable."""
    for package in PACKAGES:
        name = f"opencompass.{package}".rstrip(".")
        module = _Lenient(name)
        module.__path__ = [str(wheel / name.replace(".", "/"))]
        module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
        sys.modules[name] = module
        if package:
            above, _, last = name.rpartition(".")
            setattr(sys.modules[above], last, module)
    sys.path.insert(0, str(wheel))
    logging = _Lenient("opencompass.utils.logging")
    logging.get_logger = lambda *_: __import__("logging").getLogger("opencompass")
    sys.modules[logging.__name__] = logging
    for name in ("opencompass.utils.fileio", "opencompass.utils.build"):
        sys.modules[name] = _Lenient(name)
    utils = sys.modules["opencompass.utils"]
    utils.get_logger = logging.get_logger
    registry = importlib.import_module("opencompass.registry")
    del registry
    utils.get_data_path = importlib.import_module("opencompass.utils.datasets").get_data_path
    texts = importlib.import_module("opencompass.utils.text_postprocessors")
    for name in dir(texts):
        if not name.startswith("_"):
            setattr(utils, name, getattr(texts, name))
    base = importlib.import_module("opencompass.openicl.icl_evaluator.icl_base_evaluator")
    for package in ("openicl", "openicl.icl_evaluator"):
        sys.modules[f"opencompass.{package}"].BaseEvaluator = base.BaseEvaluator
    for module, kind in (("icl_hf_evaluator", "AccEvaluator"), ("icl_em_evaluator", "EMEvaluator")):
        found = importlib.import_module(f"opencompass.openicl.icl_evaluator.{module}")
        setattr(sys.modules["opencompass.openicl.icl_evaluator"], kind, getattr(found, kind))
    reader = importlib.import_module("opencompass.openicl.icl_dataset_reader")
    sys.modules["opencompass.openicl"].DatasetReader = reader.DatasetReader


def module_of(project: str, name: str, *, alone: bool = False) -> Any:
    """Return a module of upstream: ``datasets.arc`` of ``opencompass`` or ``aisbench``.

    Args:
        project: Whose.
        name: Of the module below the project's package.
        alone: Whether imports of the module that fail stand for anything.
    """
    top = "opencompass" if project == "opencompass" else "ais_bench.benchmark"
    _forget_flags()
    return _alone(f"{top}.{name}") if alone else importlib.import_module(f"{top}.{name}")


def _forget_flags() -> None:
    """Let the other project define the command line options of its copy of a program too."""
    absl = sys.modules.get("absl.flags")
    for name in ("input_data", "input_response_data", "output_dir") if absl else ():
        if name in absl.FLAGS:
            delattr(absl.FLAGS, name)


def _folder(package: str) -> Path:
    """Return where a package lies, after making it and those above it known as empty ones."""
    if package not in sys.modules:
        folder = _folder(package.rpartition(".")[0]) / package.rpartition(".")[2]
        module = _Lenient(package)
        module.__path__ = [str(folder)]
        module.__spec__ = importlib.machinery.ModuleSpec(package, None, is_package=True)
        sys.modules[package] = module
        setattr(sys.modules[package.rpartition(".")[0]], package.rpartition(".")[2], module)
    return Path(sys.modules[package].__path__[0])


def _alone(name: str) -> Any:
    package, _, last = name.rpartition(".")
    path = _folder(package) / f"{last}.py"
    module = _Lenient(name)
    module.__package__, module.__file__ = package, str(path)
    sys.modules[name] = module  # what hashes a function of it looks it up
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        try:
            exec(compile(ast.Module([node], []), str(path), "exec"), module.__dict__)  # noqa: S102 - upstream's own code
        except ImportError:
            module.__dict__.update({alias.asname or alias.name: Anything for alias in node.names})
    return module
