"""``datasets.load_dataset("unitxt/data", recipe)``: a recipe, not a script of the hub that is run."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from proctor.errors import UsageError

DATASET_FILE = "unitxt/data"
"""Path that stands for Unitxt's script of datasets."""
METRIC_FILE = "unitxt/metric"
"""Path that stands for Unitxt's script of metrics."""

_WITHOUT_EFFECT = frozenset(
    {
        *("trust_remote_code", "cache_dir", "download_config", "download_mode", "verification_mode", "keep_in_memory"),
        *("save_infos", "revision", "token", "use_auth_token", "num_proc", "storage_options"),
    }
)
"""How a script is fetched, checked and kept; here there is none, and the rows are the same."""


def _data(original: Callable[..., Any]) -> Callable[..., Any]:
    def load_dataset(path: str, name: str | None = None, *args: Any, **kwargs: Any) -> Any:
        if path != DATASET_FILE:
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

    return load_dataset


def answer_recipes(datasets: ModuleType) -> Callable[[], None]:
    """Let ``load_dataset`` of the package ``datasets`` answer recipes; return a function that takes it back."""
    module: Any = datasets
    original = module.load_dataset
    module.load_dataset = _data(original)
    return lambda: setattr(module, "load_dataset", original)
