"""What tools, benchmarks, comparisons and examples import from the package: each name is there."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(
    path for folder in ("benchmarks", "conformance", "examples", "tools") for path in ROOT.glob(f"{folder}/**/*.py")
)


def missing(path: Path) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "proctor":
            module = importlib.import_module(node.module)
            found += [
                f"{node.module}.{each.name}, line {node.lineno}"
                for each in node.names
                if not hasattr(module, each.name) and importlib.util.find_spec(f"{node.module}.{each.name}") is None
            ]
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imported_names_exist(path):
    assert not missing(path)
