"""AISBench's and OpenCompass' registries: what a program registers is found again, and so is what Proctor has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from proctor.errors import UnknownArtifactError, did_you_mean

Look = Callable[[str], Any]


class Registry:
    """Names and what they stand for.

    Args:
        name: What it is called in errors.
        look: Returns what Proctor has under a name, or ``None``.
        more: Without effect: places of plug-ins, which mmengine's registry imports.
    """

    def __init__(self, name: str, look: Look | None = None, **more: Any) -> None:
        del more
        self.name = name
        self._look = look
        self._own: dict[str, Any] = {}

    @property
    def module_dict(self) -> Mapping[str, Any]:
        """What programs registered."""
        return dict(self._own)

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __len__(self) -> int:
        return len(self._own)

    def get(self, name: str) -> Any:
        """Return what a name stands for, ``None`` where it stands for nothing."""
        short = name.rpartition(".")[2]
        found = self._own.get(name, self._own.get(short))
        return found if found is not None or self._look is None else self._look(short)

    def register_module(self, name: str | Sequence[str] | None = None, force: bool = True, module: Any = None) -> Any:
        """Register a class or a function: as a decorator, or directly.

        Raises:
            KeyError: The name is taken, and ``force`` is false.
        """
        if module is None:
            return lambda found: self.register_module(name, force, found)
        names = [name] if isinstance(name, str) else list(name or [module.__name__])
        for each in names:
            if each in self._own and not force:
                raise KeyError(f"{each} is already registered in {self.name}")
            self._own[each] = module
        return module

    def build(self, cfg: Mapping[str, Any], **defaults: Any) -> Any:
        """Return an instance of what a config names, made with the rest of the config.

        Raises:
            UnknownArtifactError: Nothing has this name.
        """
        kind = cfg["type"]
        found = self.get(kind) if isinstance(kind, str) else kind
        if found is None:
            raise UnknownArtifactError(f"{self.name} has no '{kind}'", hint=did_you_mean(str(kind), self._own))
        return found(**{**defaults, **{key: value for key, value in cfg.items() if key != "type"}})


def _text_function(name: str) -> Any:
    from proctor.compat.aisbench_names import scoring

    return scoring.text_postprocessor(name)


def _evaluator(name: str) -> Any:
    from proctor.compat.aisbench_names import scoring

    return scoring.evaluator_class(name, "aisbench")


def _template(name: str) -> Any:
    from proctor.dialects.aisbench.components import TEMPLATES

    return TEMPLATES.get(name)


def _dataset(name: str) -> Any:
    from proctor.compat.aisbench_names.row_classes import dataset_class

    return dataset_class(name, "aisbench")


def _model(name: str) -> Any:
    from proctor.compat.aisbench_names import models

    found = getattr(models, name, None)
    return found if isinstance(found, type) and issubclass(found, models.BaseAPIModel) else None


def _class_of(*modules: str) -> Look:
    """Return what finds classes in modules beside this one."""

    def look(name: str) -> Any:
        for module in modules:
            found = getattr(import_module(f"proctor.compat.aisbench_names.{module}"), name, None)
            if isinstance(found, type):
                return found
        return None

    return look


def _retriever(name: str) -> Any:
    from proctor.compat.opencompass_names import retrievers

    return getattr(retrievers, f"AISBench{name}", None)


TEXT_POSTPROCESSORS = Registry("text_postprocessors", _text_function)
ICL_EVALUATORS = Registry("icl_evaluators", _evaluator)
EVALUATORS = Registry("evaluators", _evaluator)
ICL_PROMPT_TEMPLATES = Registry("icl_prompt_templates", _template)
MODELS = Registry("models", _model)
LOAD_DATASET = Registry("load_dataset", _dataset)
PARTITIONERS = Registry("partitioners", _class_of("partitioning", "summarizing", "perf_summarizing"))
RUNNERS = Registry("runners", _class_of("runners"))
TASKS = Registry("tasks", _class_of("infer_tasks", "eval_tasks", "task_names"))
ICL_RETRIEVERS = Registry("icl_retrievers", _retriever)
PERF_METRIC_CALCULATORS = Registry("perf_metric_calculators", _class_of("perf_calculators", "stable_calculators"))
ICL_INFERENCERS = Registry("icl_inferencers", _class_of("inferencers"))
ICL_DATASET_READERS = Registry("icl_dataset_readers", _class_of("base_datasets"))
NAMED = {
    "TEXT_POSTPROCESSORS", "ICL_EVALUATORS", "EVALUATORS", "ICL_PROMPT_TEMPLATES", "MODELS", "LOAD_DATASET",
    "PARTITIONERS", "ICL_INFERENCERS", "ICL_DATASET_READERS", "RUNNERS", "TASKS", "ICL_RETRIEVERS",
    "PERF_METRIC_CALCULATORS",
}  # fmt: skip
PLAIN = (
    "DATASETS", "METRICS", "TOT_WRAPPER", "CLIENTS", "DICT_POSTPROCESSORS",
)  # fmt: skip
"""Registries that know only what a program puts there."""
globals().update({name: Registry(name.lower()) for name in PLAIN})


def load_class(class_path: str) -> Any:
    """Return a class by its dotted name.

    Raises:
        ValueError: There is none.
    """
    module, _, name = class_path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(f"无法加载类 (there is no class) {class_path}: {error}") from error


def build_from_cfg(cfg: Mapping[str, Any]) -> Any:
    """Return what the registry of partitioners makes of a config: partitioners and summarizers."""
    return PARTITIONERS.build(cfg)


def get_locations(module_name: str) -> list[str]:
    """Return where classes of a kind (``models`` …) are: upstream's module; plug-ins are found by name."""
    return [f"ais_bench.benchmark.{module_name}"]


NAMES = ("Registry", "build_from_cfg", "get_locations", "load_class", *sorted(NAMED), *PLAIN)
"""What the module gives."""
