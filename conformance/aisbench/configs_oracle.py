"""Loads configs with mmengine and writes their values as JSON lines; run with AISBench's environment.

    /tmp/aisenv/bin/python conformance/aisbench/configs_oracle.py OUTPUT FOLDER…

One line for each file: ``{"file": …, "values": …}`` or ``{"file": …, "error": …}``. mmengine 0.10.7 takes the standard
library for a foreign package in a virtual environment and on Python 3.11 (``os`` is frozen there), and asks the removed
``pkg_resources`` where a package lies; both questions are answered here, so that the files load as their authors saw.
"""

import contextlib
import io
import json
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import mmengine.config.config as mmengine_config
import mmengine.config.utils as mmengine_utils
from mmengine.config import Config
from mmengine.config.lazy import LazyAttr, LazyObject


def is_standard(module):
    return not module.startswith(".") and (
        module.startswith("mmengine.config") or module.split(".")[0] in sys.stdlib_module_names
    )


mmengine_config._is_builtin_module = mmengine_utils._is_builtin_module = is_standard
mmengine_config.get_installed_path = lambda package: next(iter(find_spec(package).submodule_search_locations))


def plain(value):
    """Return a value as JSON that keeps what kind each part is."""
    if isinstance(value, LazyAttr):
        return {"reference": f"{value.module}.{value.name}"}
    if isinstance(value, LazyObject):
        imported = value._imported
        return {"reference": value.module if imported is None else f"{value._module}.{imported}"}
    if isinstance(value, dict):
        return {"dict": [[plain(key), plain(each)] for key, each in dict.items(value)]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [plain(each) for each in value]}
    if isinstance(value, (set, frozenset)):
        return {type(value).__name__: sorted(json.dumps(plain(each)) for each in value)}
    if isinstance(value, type):
        return {"reference": f"{value.__module__}.{value.__qualname__}"}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return {"other": type(value).__name__}


def top_level(config):
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


def load(path):
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            config = Config.fromfile(str(path), format_python_code=False)
        return {"file": str(path), "values": list(top_level(config).items())}
    except BaseException as error:
        return {"file": str(path), "error": f"{type(error).__name__}: {error}"[:300]}


def main():
    output, *folders = sys.argv[1:]
    with open(output, "w", encoding="utf-8") as file:
        for folder in folders:
            for path in sorted(Path(folder).rglob("*.py")):
                file.write(json.dumps(load(path)) + "\n")


main()
