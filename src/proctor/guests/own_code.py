"""Functions and classes in a Python file that the user names: ``checks.py:polite``."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

from proctor.errors import ProctorError, TrustError, UsageError, did_you_mean
from proctor.guests.beside import room_beside
from proctor.secrets import keep_environment
from proctor.settings import settings


def named_in(file: str, name: str, what: str, is_wanted: Callable[[Any], bool]) -> tuple[str, Any]:
    """Return a name in a file and what it is; without a name, the only thing that the file defines and is wanted.

    Args:
        file: The file; modules beside it can be imported.
        name: The name, or an empty text.
        what: What it is, for messages: ``metric``.
        is_wanted: Whether something in the file is that.

    Raises:
        TrustError: Nobody said that code may run.
        ProctorError: There is no such file or name, or the file fails when it is run.
    """
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"there is no file {file}, in which a {what} is named")
    if not settings.trust_code:
        raise TrustError(f"the {what} in {file} is code", hint="say --trust-code to run it")
    keep_environment()  # what it reads there is in what it raises
    path = path.resolve()
    try:
        module = room_beside(path.parent, Path.cwd()).of_file(path)
    except ProctorError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code
        raise UsageError(f"{file} cannot be run", why=f"{type(error).__name__}: {error}") from None
    found = {key: each for key, each in vars(module).items() if is_wanted(each)}
    own = [key for key, each in found.items() if each.__module__ == module.__name__]
    public = [key for key in own if not key.startswith("_")]
    if not name and len(public) == 1:
        name = public[0]
    if name not in found:
        said = f"{file} has no {what} '{name}'" if name else f"{file} has {len(public) or 'no'} {what}s"
        why = f"there are {', '.join(public)}" if public else f"a function in it is a {what}"
        raise UsageError(
            said, why=why, hint=did_you_mean(name, public) or (f"name one: {file}:{public[0]}" if public else "")
        )
    return name, found[name]


def parameters_of(function: Callable[..., Any], called: str, known: frozenset[str]) -> list[str]:
    """Return which parameters a function is given: those without a default, and those of known names.

    Raises:
        UsageError: It takes any number of parameters, or some by their place alone.
    """
    taken = signature(function).parameters.values()
    if bad := [each for each in taken if each.kind not in (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)]:
        raise UsageError(f"{called} takes '{bad[0]}', and parameters are given by name")
    return [each.name for each in taken if each.default is Parameter.empty or each.name in known]
