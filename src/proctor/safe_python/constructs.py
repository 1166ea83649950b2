"""Everything in a file that reading it would refuse, found without running any of it.

Reading stops at the first refusal; this adds the others of the same file, so that a user sees all of them at once.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from proctor.errors import Location
from proctor.safe_python.compiler import REFUSED
from proctor.safe_python.functions import BUILTINS, PYTHON_BUILTINS
from proctor.safe_python.scope import SourceFile
from proctor.safe_python.statements import CONSTRUCTS

MAX_SHOWN = 20
"""How many refusals of a file are reported."""


def refused_constructs(module: SourceFile, tree: ast.Module) -> list[tuple[str, Location]]:
    """Return the constructs of a file that reading does not allow, with places, in order."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    found = {(what, module.location(node)): None for what, node in _refused(tree, bound)}
    return sorted(found, key=lambda each: (each[1].line, each[1].column))[:MAX_SHOWN]


def _refused(tree: ast.Module, bound: set[str]) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(tree):
        kind = type(node)
        if kind in CONSTRUCTS:
            yield CONSTRUCTS[kind], node
        elif kind in REFUSED:
            yield REFUSED[kind], node
        elif isinstance(node, ast.Attribute) and node.attr.startswith("__"):
            yield f"asks for the attribute '{node.attr}'", node
        elif isinstance(node, ast.Name) and _is_forbidden(node.id, bound):
            yield f"uses '{node.id}'", node
        elif isinstance(node, ast.FunctionDef) and node.decorator_list:
            yield "decorates a function", node.decorator_list[0]


def _is_forbidden(name: str, bound: set[str]) -> bool:
    return name in PYTHON_BUILTINS and name not in BUILTINS and name not in bound
