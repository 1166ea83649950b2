"""Settings: defaults, then environment variables, then what a program or a ``with`` block says.

Each setting ``name`` is read from ``PROCTOR_NAME``, and where that is not set from ``UNITXT_NAME``.
``settings.context(name=value)`` changes some for a block of code; the change is visible to that thread or task only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from proctor.errors import SettingsError, closest, did_you_mean


@dataclass(frozen=True, slots=True)
class _Setting:
    default: Any
    kind: type
    help: str
    also: str = ""  # what Unitxt calls it, where that is another name
    others: tuple[str, ...] = ()  # variables of other systems that say it, too


def cache_home() -> Path:
    """Return the folder of the cache where the user names no other."""
    return home_of("XDG_CACHE_HOME", ".cache")


def home_of(variable: str, usual: str) -> Path:
    """Return this program's folder within the one that a variable names, or within the usual one below the home."""
    return _home(os.environ.get(variable) or "", os.environ.get("HOME"), usual)


@lru_cache(maxsize=8)  # the gate asks for each file
def _home(given: str, _home: str | None, usual: str) -> Path:
    return Path(given or Path.home() / usual) / "proctor"


_TABLE: dict[str, _Setting] = {
    "seed": _Setting(42, int, "seed from which every random stream derives"),
    "cache_dir": _Setting(None, Path, "folder for converted models and indexes; where it is set, also for the log"),
    "log": _Setting(None, str, "the response log where none is named: a file, or postgresql://USER@HOST/DATABASE"),
    "hub_dir": _Setting(
        None, Path, "folder that holds datasets as <hub id>/, asked before the hub", "hf_offline_datasets_path"
    ),
    "models_dir": _Setting(
        None, Path, "folder that holds models as <hub id>/, asked before the hub", "hf_offline_models_path"
    ),
    "catalogs": _Setting("", str, "catalog folders, separated by ':'; the last one wins", "artifactories"),
    "config_dirs": _Setting("", str, "folders with OpenCompass or AISBench configs, separated by ':'"),
    "offline": _Setting(False, bool, "never contact a hub"),
    "trust_code": _Setting(False, bool, "run Python that exams bring along"),
    "sandbox": _Setting("auto", str, "where programs that models wrote run: auto, bubblewrap, docker, none …"),
    "allow": _Setting("", str, "what exams may do besides being exams: net:HOST, read:PATH, write:FOLDER …"),
    "default_format": _Setting(None, str, "format of recipes that name none"),
    "default_provider": _Setting(None, str, "provider of engines that name none"),
    "default_verbosity": _Setting("info", str, "log level: debug, info, warning, error", others=("LMEVAL_LOG_LEVEL",)),
    "engine_map": _Setting("", str, "model=engine pairs, separated by ';', that replace named models"),
    "judge": _Setting(None, str, "the model that judges where an exam names none: openai/gpt-4.1, or as --model"),
    "data_classification_policy": _Setting("", str, "JSON object: artifact name -> allowed data classes"),
    "global_loader_limit": _Setting(None, int, "most rows that any loader reads per split"),
    "num_resamples_for_instance_metrics": _Setting(1000, int, "bootstrap resamples of instance metrics"),
    "num_resamples_for_global_metrics": _Setting(100, int, "bootstrap resamples of global metrics"),
    "disable_hf_datasets_cache": _Setting(False, bool, "load hub datasets without keeping a copy"),
    "use_eager_execution": _Setting(False, bool, "run each step over all rows before the next one"),
    "task_data_as_text": _Setting(True, bool, "keep task_data as JSON text in datasets"),
}

_NO_EFFECT = "accepted because Unitxt programs set it; nothing here depends on it"
_TABLE |= {
    "mock_inference_mode": _Setting(False, bool, "answer every request with its own prompt, to try a program out"),
    "max_log_message_size": _Setting(100_000, int, _NO_EFFECT),
    "use_only_local_catalogs": _Setting(False, bool, _NO_EFFECT),
    "allow_unverified_code": _Setting(False, bool, _NO_EFFECT),
    "skip_artifacts_prepare_and_verify": _Setting(False, bool, _NO_EFFECT),
    "dataset_cache_default": _Setting(False, bool, _NO_EFFECT),
    "stream_hf_datasets_by_default": _Setting(False, bool, _NO_EFFECT),
    "test_card_disable": _Setting(False, bool, _NO_EFFECT),
    "test_metric_disable": _Setting(False, bool, _NO_EFFECT),
    "loader_cache_size": _Setting(25, int, _NO_EFFECT),
    "loaders_max_retries": _Setting(10, int, _NO_EFFECT),
    "max_connection_retries": _Setting(3, int, _NO_EFFECT),
    "max_templates_tests_for_card_test": _Setting(10, int, _NO_EFFECT),
    "inference_engine_cache_path": _Setting(None, str, _NO_EFFECT),
    "default_recipe": _Setting("dataset_recipe", str, _NO_EFFECT),
    "remote_metrics": _Setting(None, str, "metrics that Unitxt's `eval_utils.evaluate` has a service compute"),
    "metrics_master_key_token": _Setting(None, str, _NO_EFFECT),
    "hf_offline_metrics_path": _Setting(None, str, _NO_EFFECT),
}
_ALSO = {entry.also: name for name, entry in _TABLE.items() if entry.also}
VARIABLES = {
    name: (
        *((f"PROCTOR_{name.upper()}",) if entry.help != _NO_EFFECT else ()),
        *(f"UNITXT_{each.upper()}" for each in (name, entry.also) if each),
        *entry.others,
    )
    for name, entry in _TABLE.items()
}
"""By setting: the environment variables that say it, the first of which wins."""
_OURS = "PROCTOR_"
_READ_ELSEWHERE = frozenset({"PROCTOR_DATASET_MAP", "PROCTOR_CONFIG_ENV", "PROCTOR_LANG"})


def idle_variables() -> Iterator[str]:
    """Yield a sentence on each variable that is set, is called as ours are, and that nobody reads."""
    known = {each for names in VARIABLES.values() for each in names} | _READ_ELSEWHERE
    rests = [each.removeprefix(_OURS) for each in known if each.startswith(_OURS)]  # the rest makes the likeness
    for name in sorted(os.environ):
        if name.startswith(_OURS) and name not in known and not name.startswith("PROCTOR_TEST_"):
            near = " or ".join(f"'{_OURS}{each}'" for each in closest(name.removeprefix(_OURS), rests))
            hint = f"did you mean {near}?" if near else "leave it out"
            yield f"the environment variable {name} has no effect; {hint}"


_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off", ""}


def _parse(name: str, told: str, text: str) -> Any:
    """Return a setting from its text; ``told`` says who gave it."""
    kind = _TABLE[name].kind
    if kind is bool:
        if text.lower() in _TRUE | _FALSE:
            return text.lower() in _TRUE
        raise SettingsError(f"{told} is '{text}'", why="it is a switch", hint="use 1 or 0")
    if kind is int:
        try:
            return int(text)
        except ValueError:
            raise SettingsError(f"{told} is '{text}'", why="it is a whole number") from None
    return kind(text)


def _fitting(name: str, value: Any) -> Any:
    """Return a value that a program gives to a setting, as the setting's kind: numbers and switches may be texts."""
    kind = _TABLE[name].kind
    if value is None or kind not in (bool, int):
        return value
    if isinstance(value, str):
        return _parse(name, f"the setting '{name}'", value)
    if value in (0, 1) if kind is bool else isinstance(value, int) and not isinstance(value, bool):
        return kind(value)
    why = "it is a switch" if kind is bool else "it is a whole number"
    raise SettingsError(f"the setting '{name}' is {value!r}", why=why)


_overrides: ContextVar[dict[str, Any]] = ContextVar("proctor_settings", default={})  # noqa: B039 - never mutated


class Settings:
    """The settings of this process; read and assign them as attributes."""

    def __init__(self) -> None:
        object.__setattr__(self, "_assigned", {})

    def __getattr__(self, name: str) -> Any:
        name = _ALSO.get(name, name)
        if name not in _TABLE:
            raise AttributeError(self._unknown(name))
        for layer in (_overrides.get(), self._assigned):
            if name in layer:
                return layer[name]
        if given := [variable for variable in VARIABLES[name] if variable in os.environ]:
            if given[1:] and not given[0].startswith("PROCTOR_"):
                raise _said_twice(given)
            return _parse(name, given[0], os.environ[given[0]])
        return cache_home() if name == "cache_dir" else _TABLE[name].default

    def __setattr__(self, name: str, value: Any) -> None:
        self._assigned.update(self._checked({name: value}))

    def __contains__(self, name: object) -> bool:
        return name in _TABLE or name in _ALSO

    def __dir__(self) -> list[str]:
        return [*_TABLE, "context", "describe"]

    @contextmanager
    def context(self, **values: Any) -> Iterator[Settings]:
        """Change settings inside a ``with`` block."""
        token = _overrides.set({**_overrides.get(), **self._checked(values)})
        try:
            yield self
        finally:
            _overrides.reset(token)

    def describe(self) -> dict[str, str]:
        """Return every setting with a line on what it does."""
        return {name: entry.help for name, entry in _TABLE.items()}

    @staticmethod
    def defaults() -> dict[str, Any]:
        """Return the default of every setting; ``None`` for folders that depend on the user."""
        return {name: entry.default for name, entry in _TABLE.items()}

    def _checked(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return values by the names of their settings here, each of its setting's kind."""
        for name in values:
            if name not in self:
                raise SettingsError(self._unknown(name), hint=did_you_mean(name, _TABLE))
        ours = {_ALSO.get(name, name): value for name, value in values.items()}
        return {name: _fitting(name, value) for name, value in ours.items()}

    @staticmethod
    def _unknown(name: str) -> str:
        return f"there is no setting '{name}'"


def _said_twice(variables: list[str]) -> SettingsError:
    return SettingsError(
        f"Both {' and '.join(variables)} are set.",
        why="they say the same setting, the second by its old name",
        hint=f"set one of them, or PROCTOR_{variables[0].removeprefix('UNITXT_')}, which counts before both",
    )


settings = Settings()


def get_settings() -> Settings:
    """Return the settings of this process."""
    return settings


def model_folder(model: str) -> str | None:
    """Return the folder of a model: the path that ``model`` is, or ``settings.models_dir/<hub id>``.

    Returns:
        ``None`` where there is neither; the model is then a hub id.
    """
    mapped = [Path(settings.models_dir) / model] if settings.models_dir else []
    for folder in (Path(model).expanduser(), *mapped):
        if (folder / "config.json").is_file() or (folder.is_dir() and any(folder.glob("*.gguf"))):
            return str(folder)
    return None
