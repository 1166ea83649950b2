"""Classes of Unitxt's programs that override what nothing calls here are refused, instead of being half obeyed.

The methods stand in ``overrides.json``: those that a class of Unitxt 1.26 has and the class of its name here
does not, and those that are ``present`` for programs to call (``conformance/unitxt/overrides.py`` writes it).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.resources import files
from itertools import takewhile

from proctor.artifacts.artifact import class_checks
from proctor.artifacts.deprecations import warn_of_deprecations
from proctor.errors import UsageError
from proctor.guests.overrides import called_by

_INSTEAD: Mapping[str, str] = {
    "Template": "input_fields_to_source() and reference_fields_to_target_and_references() are called, and "
    "preprocess_input_fields(), preprocess_reference_fields(), serialize(), process()",
    "Format": "layout() is called, and process()",
    "Loader": "load_iterables() is called, and process()",
    "Metric": "compute() is called, of reducing metrics map(), reduce() and reduce_one()",
    "InferenceEngine": "derive from InferenceEngine, and write _infer()",
    "FieldOperator": "process_value() is called, or process_instance_value()",
    "StreamingOperator": "process() is called",
}
"""By a base of ours: what is called of a class that derives from it. The first that fits counts."""


def check_classes() -> Callable[[], None]:
    """Check classes and warn of deprecations, as programs of Unitxt expect; return a function that takes it back."""
    class_checks.append(refuse_overrides)
    warn_of_deprecations(True)

    def undo() -> None:
        class_checks.remove(refuse_overrides)
        warn_of_deprecations(False)

    return undo


def refuse_overrides(cls: type) -> None:
    """Refuse a class that overrides a method which is called in Unitxt, not here, and not by the class itself.

    Raises:
        UsageError: It does; the message says which method, and what is called here.
    """
    if cls.__module__.partition(".")[0] == "proctor":
        return
    called = set(called_by(cls))
    ours = [base for base in cls.__mro__[1:] if base.__module__.startswith("proctor.")]
    for base in ours:
        for name in vars(cls).keys() - called:
            if _is_uncalled(base.__name__, name, ours):
                raise UsageError(
                    f"{cls.__name__} overrides {name}() of {base.__name__}",
                    why="Unitxt calls it and Proctor does not, so that it would have no effect",
                    hint=next((said for each, said in _INSTEAD.items() if each in _names(cls)), ""),
                )


def _is_uncalled(base: str, name: str, ours: Iterable[type]) -> bool:
    table = _table()
    if name in table["present"].get(base, ()):
        nearer = takewhile(lambda each: each.__name__ != base, ours)
        return not any(name in vars(each) for each in nearer)  # of their own, which is called
    return name in table["classes"].get(base, ()) and not any(hasattr(each, name) for each in ours)


@cache
def _table() -> Mapping[str, Mapping[str, list[str]]]:
    text = (files(__package__) / "overrides.json").read_text(encoding="utf-8")
    told = json.loads(text)
    return {part: told[part] for part in ("classes", "present")}


def _names(cls: type) -> Iterable[str]:
    return {each.__name__ for each in cls.__mro__}
