"""What a fork of lm-eval has made of names that lm-eval itself has: Proctor's stay, and that is said.

A function of a fork counts as changed where its syntax tree, with all that it uses of its module, is none of those that
releases of lm-eval have (``fork_digests.json``, written by ``tools/lm_eval_digests.py``). Nothing of the fork is run.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from proctor.foreign_text import read_source_text

_KINDS: Final = ("register_metric", "register_aggregation", "register_filter")
_SCORING: Final = re.compile(
    r"^    def process_results\(.*?(?=^    (?:def|@)|^(?:class|def|@)|\Z)", re.DOTALL | re.MULTILINE
)
_NO_PART: Final = ("annotation", "returns", "type_comment", "kind")
PROCESS_RESULTS: Final = "process_results"
"""What stands for the method that makes scores of answers, among the names of a package."""


@lru_cache(maxsize=8)
def changed_names(package: Path) -> Mapping[str, str]:
    """Return the names of lm-eval's that a fork's package has changed, and the file of each below the package.

    Args:
        package: The folder ``lm_eval``.
    """
    known = json.loads(files(__package__).joinpath("fork_digests.json").read_text(encoding="utf-8"))
    found = digests(package)
    return {name: file for (name, digest), file in found.items() if name in known and digest not in known[name]}


def digests(package: Path) -> dict[tuple[str, str], str]:
    """Return what a package registers and how it makes scores: names with a digest, and the file of each below it."""
    found: dict[tuple[str, str], str] = {}
    for file in sorted((*package.glob("api/*.py"), *package.glob("filters/*.py"))):
        text = read_source_text(file)
        try:
            pairs = [*_registered(text), *_scoring(text)]
        except SyntaxError:
            continue
        found |= {pair: file.relative_to(package).as_posix() for pair in pairs}
    return found


def _registered(text: str) -> Iterator[tuple[str, str]]:
    if not any(kind in text for kind in _KINDS):
        return
    body = ast.parse(text).body
    parts: dict[str, ast.stmt] = {}
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts[node.name] = node
        elif isinstance(node, ast.Assign):
            parts |= {each.id: node for each in node.targets if isinstance(each, ast.Name)}
    for node in body:
        for call in getattr(node, "decorator_list", ()):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _KINDS:
                given = [*call.args, *(each.value for each in call.keywords if each.arg in ("metric", "name"))]
                if given and isinstance(given[0], ast.Constant):
                    yield str(given[0].value), _digest(_with_parts(node, parts, set()))


def _scoring(text: str) -> Iterator[tuple[str, str]]:
    if "class ConfigurableTask" in text and (written := _SCORING.findall(text)):
        yield PROCESS_RESULTS, _digest([_shape(ast.parse("if 1:\n" + max(written, key=len)))])


def _with_parts(node: ast.stmt, parts: Mapping[str, ast.stmt], seen: set[str]) -> list[Any]:
    found = [_shape(node)]
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and each.id in parts and each.id not in seen:
            seen.add(each.id)
            found += _with_parts(parts[each.id], parts, seen)
    return found


def _shape(node: Any) -> Any:
    """Return a syntax tree as plain data, the same for every version of Python, without documentation and types."""
    if isinstance(node, list):
        return [_shape(each) for each in node if not _is_text(each)]
    if not isinstance(node, ast.AST):
        return repr(node)
    parts = ((name, value) for name, value in ast.iter_fields(node) if name not in _NO_PART)
    return [type(node).__name__, *([name, _shape(value)] for name, value in parts if value not in (None, []))]


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _digest(parts: list[Any]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()[:10]
