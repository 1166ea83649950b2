"""``datasets.load_dataset("unitxt/data", recipe)`` and ``evaluate.load("unitxt/metric")``, answered by Proctor.

Both names are scripts on the hub that would be downloaded and run; newer versions of ``datasets`` refuse them. Here
they mean the recipe, and nothing is downloaded. ``evaluate`` need not be installed for it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from proctor.errors import UsageError

DATA = ("unitxt/data",)
METRIC = ("unitxt/metric",)
DATASET_FILE = DATA[0]
"""What stands for the path of Unitxt's script of datasets."""
METRIC_FILE = METRIC[0]
"""What stands for the path of Unitxt's script of metrics."""


class RecipeMetric:
    """What ``evaluate.load("unitxt/metric")`` returns."""

    def compute(
        self,
        *,
        predictions: Any = None,
        references: Any = None,
        flatten: bool = False,
        split_name: str = "all",
        calc_confidence_intervals: bool = True,
    ) -> Any:
        """Return the evaluation of predictions for a dataset.

        Args:
            predictions: One for each row.
            references: The rows.
            flatten: Refused: rows keep their ``score`` as a tree.
            split_name: Without effect: it names a stream that the evaluation goes through.
            calc_confidence_intervals: Whether scores have intervals.

        Raises:
            UsageError: ``flatten`` is asked for.
        """
        from proctor.running.evaluate import evaluate

        del split_name
        if flatten:
            raise UsageError("flatten=True is not honoured", hint="look into row['score'], which is a tree")
        return evaluate(predictions, references, calc_confidence_intervals=calc_confidence_intervals)


_WITHOUT_EFFECT = frozenset(
    {
        *("trust_remote_code", "cache_dir", "download_config", "download_mode", "verification_mode", "keep_in_memory"),
        *("save_infos", "revision", "token", "use_auth_token", "num_proc", "storage_options"),
    }
)
"""How a script is fetched, checked and kept; here there is none, and the rows are the same."""


def _data(original: Callable[..., Any]) -> Callable[..., Any]:
    def load_dataset(path: str, name: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if path not in DATA:
            return original(path, name, *args, **kwargs)
        from proctor.recipes import load_dataset as load

        refused = sorted(
            key for key in kwargs.keys() - {"split", "streaming", *_WITHOUT_EFFECT} if kwargs[key] is not None
        )
        if args or refused:
            raise UsageError(
                f"load_dataset('{path}', recipe) takes no {', '.join(refused) or 'third value by position'}",
                why="the recipe says where its data comes from",
                hint="write it into the recipe: card=…,template=…",
            )
        return load(name, split=kwargs.get("split"), streaming=bool(kwargs.get("streaming")))

    load_dataset.__proctor_original__ = original  # type: ignore[attr-defined]
    return load_dataset


def _metric(original: Callable[..., Any] | None) -> Callable[..., Any]:
    def load(path: str, *args: Any, **kwargs: Any) -> Any:
        if path in METRIC:
            return RecipeMetric()
        if original is None:
            raise ModuleNotFoundError(
                f"'{path}' needs the package 'evaluate': pip install 'proctor[compat]'", name="evaluate"
            )
        return original(path, *args, **kwargs)

    load.__proctor_original__ = original  # type: ignore[attr-defined]
    return load


def install_hugging_face() -> None:
    """Let both functions answer the names above."""
    datasets: Any = importlib.import_module("datasets")
    if not hasattr(datasets.load_dataset, "__proctor_original__"):
        datasets.load_dataset = _data(datasets.load_dataset)
    if find_spec("evaluate") is not None:
        evaluate: Any = importlib.import_module("evaluate")
        if not hasattr(evaluate.load, "__proctor_original__"):
            evaluate.load = _metric(evaluate.load)
    elif "evaluate" not in sys.modules:
        stand_in = ModuleType(
            "evaluate", "Answers evaluate.load('unitxt/metric'); the package itself is not installed."
        )
        stand_in.__spec__ = ModuleSpec("evaluate", None)  # others look for it, and this may be installed twice
        stand_in.load = _metric(None)  # type: ignore[attr-defined]
        sys.modules["evaluate"] = stand_in


def uninstall_hugging_face() -> None:
    """Take back :func:`install_hugging_face`."""
    for name, attribute in (("datasets", "load_dataset"), ("evaluate", "load")):
        module = sys.modules.get(name)
        function = getattr(module, attribute, None)
        if function is None or not hasattr(function, "__proctor_original__"):
            continue
        if function.__proctor_original__ is None:
            del sys.modules[name]
        else:
            setattr(module, attribute, function.__proctor_original__)
