"""AISBench's and OpenCompass' registries: what a program registers is found again, and so is what Proctor has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from proctor.errors import UnknownArtifactError, did_you_mean
from proctor.logs import get_logger

_PLUGINS = "ais_bench.benchmark_plugins"
"""The group of entry points under which packages add classes to AISBench."""

Look = Callable[[str], Any]


class NotRegisteredError(UnknownArtifactError, KeyError):
    """A name that a registry does not have: a ``KeyError``, as upstream's."""


class Registry:
    """Names and what they stand for.

    Args:
        name: What it is called in errors.
        build_func: Makes an instance of a config in place of :meth:`build`; called with the registry, too.
        parent, scope: Kept, and without effect: there is one registry of each kind here, and it finds every name.
        locations: Modules that register more: those that are not upstream's are imported when a name is not found.
        look: Returns what Proctor has under a name, or ``None``.
        kind: The module below which upstream and its plug-ins have more. Plug-ins are looked for when a name is not
            found.
    """

    def __init__(
        self,
        name: str,
        build_func: Callable[..., Any] | None = None,
        parent: Any = None,
        scope: str | None = None,
        locations: Sequence[str] = (),
        *,
        look: Look | None = None,
        kind: str = "",
    ) -> None:
        self.name, self.parent, self.scope = name, parent, scope or "ais_bench"
        self._look = look
        self.build_func = build_func
        self._module_dict: dict[str, Any] = {}
        self._kinds = [kind] if kind else []  # not yet looked for
        self._locations = [each for each in locations if not each.startswith("ais_bench.")]

    @property
    def module_dict(self) -> dict[str, Any]:
        """What programs registered."""
        return self._module_dict

    def __contains__(self, name: str) -> bool:
        return self.get(name) is not None

    def __len__(self) -> int:
        return len(self._module_dict)

    def get(self, name: str) -> Any:
        """Return what a name stands for, ``None`` where it stands for nothing.

        Raises:
            TypeError: It is no name.
        """
        if not isinstance(name, str):
            raise TypeError(f"The name to search must be a str, but it is {type(name)}")
        short = name.rpartition(".")[2]
        found = self._module_dict.get(name, self._module_dict.get(short))
        if found is None and self._look is not None:
            found = self._look(short)
        if found is None and self._kinds:
            self._locations += get_plugin_locations(self._kinds.pop())
        while found is None and self._locations:
            import_module(self._locations.pop(0))
            found = self._module_dict.get(name, self._module_dict.get(short))
        return found

    def register_module(self, name: str | Sequence[str] | None = None, force: bool = True, module: Any = None) -> Any:
        """Register a class or a function: as a decorator, or directly.

        Raises:
            KeyError: The name is taken, and ``force`` is false.
            TypeError: One of these is not what it must be.
        """
        if not isinstance(force, bool):
            raise TypeError(f"force must be a boolean, but it is {type(force)}")
        if name is not None and not _is_named(name):
            raise TypeError(f"name must be None, a str, or a sequence of str, but it is {type(name)}")
        if module is None:
            return lambda found: self.register_module(name, force, found)
        if not callable(module):
            raise TypeError(f"module must be Callable, but it is {type(module)}")
        names = [module.__name__] if name is None else [name] if isinstance(name, str) else list(name)
        for each in names:
            if each in self._module_dict and not force:
                raise KeyError(f"{each} is already registered in {self.name}")
            self._module_dict[each] = module
        return module

    def build(self, cfg: Mapping[str, Any], **defaults: Any) -> Any:
        """Return an instance of what a config names, made with the rest of the config.

        Raises:
            NotRegisteredError: Nothing has this name.
            KeyError: The config has no ``type``.
            TypeError: It is no config, or its ``type`` nothing that can be called.
        """
        if self.build_func is not None:
            return self.build_func(cfg, **defaults, registry=self)
        if not isinstance(cfg, Mapping):
            raise TypeError(f"cfg should be a dict, ConfigDict or Config, but it is {type(cfg)}")
        arguments = {**(defaults.pop("default_args", None) or {}), **defaults, **cfg}
        arguments.pop("_scope_", None)
        if "type" not in arguments:
            raise KeyError(f'`cfg` or `default_args` must contain the key "type", and has {", ".join(map(str, cfg))}')
        kind = arguments.pop("type")
        if not isinstance(kind, str) and not callable(kind):
            raise TypeError(f"type must be a str or valid type, but it is {type(kind)}")
        found = self.get(kind) if isinstance(kind, str) else kind
        if found is None:
            raise NotRegisteredError(f"{self.name} has no '{kind}'", hint=did_you_mean(str(kind), self._module_dict))
        return found(**arguments)


def _is_named(name: Any) -> bool:
    return isinstance(name, str) or (isinstance(name, Sequence) and all(isinstance(each, str) for each in name))


def _text_function(name: str) -> Any:
    from proctor.compat.aisbench_names import scoring

    return scoring.text_postprocessor(name)


def _evaluator(name: str) -> Any:
    from proctor.compat.aisbench_names import scoring

    return scoring.evaluator_class(name, "aisbench")


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


TEXT_POSTPROCESSORS = Registry("text_postprocessors", look=_text_function, kind="utils.postprocess.text_postprocessors")
ICL_EVALUATORS = Registry("icl_evaluators", look=_evaluator, kind="openicl.icl_evaluator")
EVALUATORS = Registry("evaluators", look=_evaluator, kind="evaluators")
ICL_PROMPT_TEMPLATES = Registry("icl_prompt_templates", look=_class_of("templates"), kind="openicl.icl_prompt_template")
MODELS = Registry("model", look=_model, kind="models")
LOAD_DATASET = Registry("load_dataset", look=_dataset, kind="datasets")
PARTITIONERS = Registry(
    "partitioner", look=_class_of("partitioning", "summarizing", "perf_summarizing"), kind="partitioners"
)
RUNNERS = Registry("runner", look=_class_of("runners"), kind="runners")
TASKS = Registry("task", look=_class_of("infer_tasks", "eval_tasks", "task_names"), kind="tasks")
ICL_RETRIEVERS = Registry("icl_retrievers", look=_class_of("retrievers"), kind="openicl.icl_retriever")
PERF_METRIC_CALCULATORS = Registry(
    "perf_metric_calculator", look=_class_of("perf_calculators", "stable_calculators"), kind="calculators"
)
ICL_INFERENCERS = Registry("icl_inferencers", look=_class_of("inferencers"), kind="openicl.icl_inferencer")
ICL_DATASET_READERS = Registry(
    "icl_dataset_readers", look=_class_of("base_datasets"), kind="openicl.icl_dataset_reader"
)
NAMED = {
    "TEXT_POSTPROCESSORS", "ICL_EVALUATORS", "EVALUATORS", "ICL_PROMPT_TEMPLATES", "MODELS", "LOAD_DATASET",
    "PARTITIONERS", "ICL_INFERENCERS", "ICL_DATASET_READERS", "RUNNERS", "TASKS", "ICL_RETRIEVERS",
    "PERF_METRIC_CALCULATORS",
}  # fmt: skip
PLAIN = (
    "DATASETS", "METRICS", "TOT_WRAPPER", "CLIENTS", "DICT_POSTPROCESSORS",
)  # fmt: skip
"""Registries that know only what a program puts there."""
globals().update({name: Registry({"METRICS": "metric", "CLIENTS": "client"}.get(name, name.lower())) for name in PLAIN})


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


def get_locations(module_dir: str) -> list[str]:
    """Return where classes of a kind (``models`` …) are: upstream's module, and those of installed plug-ins."""
    return [f"ais_bench.benchmark.{module_dir}", *get_plugin_locations(module_dir)]


def get_plugin_locations(module_dir: str) -> list[str]:
    """Return the modules of a kind that installed plug-ins of AISBench have; none of them is imported.

    A plug-in that cannot be loaded is named in a warning, and left out, as upstream leaves it out.
    """
    found: list[str] = []
    try:
        listed = entry_points().select(group=_PLUGINS)
    except Exception as error:  # noqa: BLE001 - what is installed is broken; said, and the rest works without it
        get_logger().warning("plug-ins of AISBench cannot be listed: %s", error)
        return found
    for entry in listed:
        try:
            package = entry.load()
            if _submodule_exists(package, module_dir):
                found.append(f"{package.__name__}.{module_dir}")
        except Exception as error:  # noqa: BLE001 - a plug-in is anybody's code; said, and the others are found
            get_logger().warning("the plug-in %s of AISBench cannot be loaded: %s", entry, error)
    return found


def _submodule_exists(pkg: Any, module_dir: str) -> bool:
    """Whether a package has a module or a package of this name, by its files."""
    folders = (Path(each).joinpath(*module_dir.split(".")) for each in getattr(pkg, "__path__", None) or ())
    return any(folder.is_dir() or folder.with_suffix(".py").is_file() for folder in folders)


NAMES = ("Registry", "build_from_cfg", "get_locations", "get_plugin_locations", "load_class", *sorted(NAMED), *PLAIN)
"""What the module gives."""
