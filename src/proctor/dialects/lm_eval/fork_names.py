"""Metrics, aggregations and filters that a fork of lm-eval registers in its own package, for the tasks that lie in it.

Tasks of a fork lie in ``lm_eval/tasks``; what it adds to ``lm_eval/api`` and ``lm_eval/filters`` is found by the
decorators in the text. A module that registers a name which a task wants and nobody else has is run where code is
trusted, with Proctor's names beneath it; of names that lm-eval itself has, Proctor's stay, and where the fork has
changed one that a task uses, that is said (:mod:`proctor.dialects.lm_eval.fork_changes`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from proctor.dialects.lm_eval.config import TaskConfig, plain
from proctor.dialects.lm_eval.fork_changes import PROCESS_RESULTS, changed_names
from proctor.dialects.lm_eval.functions import failed, module_of_file
from proctor.errors import Diagnostic, ProctorError
from proctor.foreign_text import read_source_text
from proctor.logs import say_once
from proctor.recipes.fingerprint import digest_of_bytes
from proctor.settings import settings

_PACKAGE: Final = re.compile(r"(.*/lm_eval)/tasks/")
_PLACES: Final = ("api/*.py", "filters/*.py")
_REGISTERED: Final = re.compile(
    r"@register_(metric|aggregation|filter)\(\s*(?:metric\s*=\s*|name\s*=\s*)?[\"']([^\"']+)"
)


def fork_files(metrics: object, filters: object, task: str) -> dict[Path, frozenset[str]]:
    """Return the modules of a task's fork that register what the task names, and all names that only they have.

    Args:
        metrics: The task's ``metric_list``.
        filters: Its ``filter_list``.
        task: Its file.
    """
    if (found := _PACKAGE.match(str(Path(task).resolve()))) is None:
        return {}
    wanted = set(_texts([metrics, filters]))
    registered = _registered(Path(found[1]))
    return {file: names for file, names in registered.items() if names & wanted}


def load_fork(config: TaskConfig) -> Iterator[Diagnostic]:
    """Run the modules of a task's fork that register what it names, each once; yield what is wrong with them."""
    from proctor.guests.lm_eval.registry import taking_only  # which knows the metrics of this dialect

    _say_changes(config)
    for file, names in _files_of(config).items():
        what = f"{file} registers {', '.join(sorted(names))}"
        if not settings.trust_code:
            yield Diagnostic(f"{what}, and is code", hint="say --trust-code to run it")
            continue
        try:
            with taking_only(names):
                module_of_file(file)
        except ProctorError as error:
            yield from error.diagnostics
        except Exception as error:  # noqa: BLE001 - code of others may fail in any way; the reason is reported
            yield from failed(f"{what}, and fails when it is imported", error).diagnostics
        else:
            say_once(f"{what}: read from it; what lm-eval has itself is Proctor's")


def _say_changes(config: TaskConfig) -> None:
    """Say which names of lm-eval's that a task uses its fork has changed: scores here are lm-eval's own."""
    if config.source is None or (found := _PACKAGE.match(str(Path(config.source.path).resolve()))) is None:
        return
    used = {*_texts([plain(config.metric_list), plain(config.filter_list)])}
    used |= {PROCESS_RESULTS} if config.process_results is None else set()
    if changed := {name: file for name, file in changed_names(Path(found[1])).items() if name in used}:
        named = ", ".join(f"{name} ({file})" for name, file in sorted(changed.items()))
        say_once(f"{found[1]} has changed {named}: scores here are those of lm-eval's releases, not the fork's")


def code_of_fork(config: TaskConfig) -> dict[str, str]:
    """Return the digests of the modules of a task's fork that register what it names, by their place in the fork."""
    files = _files_of(config)
    return {f"lm_eval/{each.parent.name}/{each.name}": digest_of_bytes(each.read_bytes()) for each in files}


def _files_of(config: TaskConfig) -> dict[Path, frozenset[str]]:
    file = "" if config.source is None else config.source.path
    return fork_files(plain(config.metric_list), plain(config.filter_list), file) if file else {}


@lru_cache(maxsize=8)
def _registered(package: Path) -> dict[Path, frozenset[str]]:
    found = {}
    for file in sorted(each for place in _PLACES for each in package.glob(place)):
        names = {(kind, name) for kind, name in _REGISTERED.findall(read_source_text(file))}
        if own := frozenset(name for kind, name in names if not _is_ours(kind, name)):
            found[file] = own
    return found


def _is_ours(kind: str, name: str) -> bool:
    from proctor.guests.lm_eval import registry  # which knows the metrics of this dialect

    return bool(getattr(registry, f"{kind}_registry").is_ours(name))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for each in value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ():
        yield from _texts(each)
