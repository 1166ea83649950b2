"""Functions of the tables by name, for whoever calls them on values of Python's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proctor.safe_python.budget import Budget
from proctor.safe_python.calls import Invocable
from proctor.safe_python.functions import BUILTINS, READING, Builtin
from proctor.safe_python.methods import METHODS
from proctor.safe_python.modules import MODULES
from proctor.safe_python.plain import held, plain
from proctor.safe_python.rows import run
from proctor.safe_python.scope import Frame


def safe_function(name: str) -> Callable[..., Any]:
    """Return a function of the tables by its name: ``sorted``, ``str.lower``, ``json.loads``; each call has a budget.

    Raises:
        KeyError: No expression may call it.
    """
    owner, _, member = name.rpartition(".")
    if owner in MODULES:
        function: Invocable = MODULES[owner].members[member]
    elif owner:
        method = METHODS[BUILTINS[owner].kind][member]
        function = Builtin(name, lambda frame, given, named: method(frame, given[0], given[1:], named))
    else:
        function = {each: BUILTINS[each] for each in READING}[name]

    def called(*arguments: Any, **named: Any) -> Any:
        values = [plain(each) for each in arguments]
        return held(run(lambda frame: function.invoke(frame, values, named), Frame({}, Budget()), name))

    return called
