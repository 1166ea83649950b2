"""Python of strangers, computed and never executed: expressions over rows, and source files such as configs.

One allow-list says which operators, methods, functions and modules there are
(:mod:`~proctor.safe_python.operators`, :mod:`~proctor.safe_python.methods`, :mod:`~proctor.safe_python.functions`,
:mod:`~proctor.safe_python.modules`), one budget what they may cost (:mod:`~proctor.safe_python.budget`), and one
compiler turns expressions into functions (:mod:`~proctor.safe_python.compiler`), with two ways of finding names: the
fields of a row (:mod:`~proctor.safe_python.rows`) and the scopes of a file
(:mod:`~proctor.safe_python.file_expressions`, whose statements :mod:`~proctor.safe_python.statements` runs).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.safe_python.rows import compile_expression, compile_predicate
    from proctor.safe_python.table_functions import safe_function

__all__ = ["compile_expression", "compile_predicate", "safe_function"]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(
        __name__, {"rows": ("compile_expression", "compile_predicate"), "table_functions": ("safe_function",)}
    )
