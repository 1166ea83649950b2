"""Loads configs with mmengine and writes their values as JSON lines; run with AISBench's environment.

    /tmp/aisenv/bin/python configs_oracle.py OUTPUT FOLDER…

One line for each file: ``{"file": …, "values": …}`` or ``{"file": …, "error": …}``. mmengine 0.10.7 takes the standard
library for a foreign package in a virtual environment and on Python 3.11 (``os`` is frozen there), and asks the removed
``pkg_resources`` where a package lies; both questions are answered here, so that the files load as their authors saw.
Some name base files by their package, which is found where the folder of configs is: it need not be installed.
"""

# ruff: noqa: SLF001 - mmengine keeps in private attributes what is asked here

from __future__ import annotations

import contextlib
import io
import json
import sys
import types
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mmengine.config.config as mmengine_config
import mmengine.config.utils as mmengine_utils
from mmengine.config import Config
from mmengine.config.lazy import LazyAttr, LazyObject


def is_standard(module: str) -> bool:
    """Return whether a module is Python's own, or mmengine's for configs."""
    return module.startswith("mmengine.config") or module.split(".", maxsplit=1)[0] in sys.stdlib_module_names


mmengine_config._is_builtin_module = mmengine_utils._is_builtin_module = is_standard
mmengine_config.get_installed_path = lambda package: next(iter(find_spec(package).submodule_search_locations))


def plain(value: Any) -> Any:
    """Return a value as JSON that keeps what kind each part is."""
    if isinstance(value, (LazyAttr, LazyObject, type)):
        return {"reference": reference(value)}
    if isinstance(value, dict):
        return {"dict": [[plain(key), plain(each)] for key, each in dict.items(value)]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [plain(each) for each in value]}
    if isinstance(value, (set, frozenset)):
        return {type(value).__name__: sorted(json.dumps(plain(each)) for each in value)}
    known = value is None or isinstance(value, (str, int, float, bool))
    return value if known else {"other": type(value).__name__}


def reference(value: Any) -> str:
    """Return the dotted name of something imported."""
    if isinstance(value, LazyAttr):
        return f"{value.module}.{value.name}"
    if isinstance(value, LazyObject):
        return value.module if value._imported is None else f"{value._module}.{value._imported}"
    return f"{value.__module__}.{value.__qualname__}"


def top_level(config: Config) -> dict[str, Any]:
    """Return the names that are data: no imports, modules, functions or iterators."""
    imported = getattr(config, "_imported_names", set())
    kept = {}
    for name, value in dict.items(config._cfg_dict):
        if isinstance(value, (types.ModuleType, types.FunctionType, types.BuiltinFunctionType)):
            continue
        if name in imported and (isinstance(value, (LazyObject, LazyAttr, type)) or callable(value)):
            continue
        kept[name] = plain(value)
    return kept


def load(path: Path) -> dict[str, Any]:
    """Return the values of a file, or why it does not load."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            config = Config.fromfile(str(path), format_python_code=False)
        return {"file": str(path), "values": list(top_level(config).items())}
    except BaseException as error:  # noqa: BLE001 - the file runs any code; what it raises is the answer
        return {"file": str(path), "error": f"{type(error).__name__}: {error}"[:300]}


def main() -> None:
    """Load every file below the folders."""
    output, *folders = sys.argv[1:]
    for folder in folders:
        packages = [parent for parent in Path(folder).parents if (parent / "__init__.py").is_file()]
        sys.path += [str(package.parent) for package in packages[-1:]]
    with Path(output).open("w", encoding="utf-8") as file:
        paths = [path for folder in folders for path in sorted(Path(folder).rglob("*.py"))]
        file.writelines(json.dumps(load(path)) + "\n" for path in paths)


main()
