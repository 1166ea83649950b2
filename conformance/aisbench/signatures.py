"""Reads what the classes and functions that configs name take, from the sources of OpenCompass and AISBench.

Usage: ``python -m conformance.aisbench.signatures [--write]``. Needs unzipped wheels of OpenCompass
(``OPENCOMPASS_WHEEL``) and of AISBench (``AISBENCH_WHEEL``). Nothing is imported: syntax trees are read. Without
``--write`` the table in the package is compared with what the sources say; a difference is printed, and the exit code
is 1.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

WHEELS = {
    "opencompass": (os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc"), "opencompass"),  # noqa: S108
    "aisbench": (os.environ.get("AISBENCH_WHEEL", "/tmp/aisw/ais"), "ais_bench/benchmark"),  # noqa: S108
}
TABLE = Path(__file__).parents[2] / "src/proctor/dialects/aisbench/signatures.json"
BASES = {
    "BaseDataset": "datasets",
    "BaseEvaluator": "evaluators",
    "BaseInferencer": "inferencers",
    "BaseRetriever": "retrievers",
    "BaseModel": "models",
    "BasePartitioner": "partitioners",
    "BaseRunner": "runners",
    "BaseTask": "tasks",
}
REGISTRIES = {
    "LOAD_DATASET": "datasets",
    "ICL_EVALUATORS": "evaluators",
    "ICL_INFERENCERS": "inferencers",
    "ICL_RETRIEVERS": "retrievers",
    "ICL_PROMPT_TEMPLATES": "templates",
    "ICL_DATASET_READERS": "readers",
    "MODELS": "models",
    "PARTITIONERS": "partitioners",
    "RUNNERS": "runners",
    "TASKS": "tasks",
    "TEXT_POSTPROCESSORS": "postprocessors",
    "DICT_POSTPROCESSORS": "dict_postprocessors",
}
ENDINGS = {
    "Summarizer": "summarizers",
    "Evaluator": "evaluators",
    "Retriever": "retrievers",
    "Inferencer": "inferencers",
}
SUPPLIED = {
    "readers": {"dataset"},
    "retrievers": {"dataset", "prompt_template", "ice_template"},
    "inferencers": {"model", "model_cfg"},
    "evaluators": {"_out_dir"},
    "summarizers": {"config"},
}
"""What upstream fills in itself, and no config gives."""


@dataclass
class Source:
    """The classes and functions of a package.

    Attributes:
        classes: By name; of several with one name, each with its module's folder.
        functions: Registered functions and those that configs may name, by name.
    """

    classes: dict[str, list[tuple[str, ast.ClassDef]]] = field(default_factory=dict)
    functions: dict[str, tuple[str, str, ast.FunctionDef]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Source:
        """Return what a package's files hold."""
        found = cls()
        for path in sorted(folder.rglob("*.py")):
            module = ".".join(path.relative_to(folder).with_suffix("").parts)
            if module.startswith("configs."):
                continue
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    found.classes.setdefault(node.name, []).append((module, node))
                elif isinstance(node, ast.FunctionDef):
                    found.add(module, node)
        return found

    def add(self, module: str, node: ast.FunctionDef) -> None:
        """Note a function under its own name and under those it is registered by."""
        kind, names = _registered(node)
        if not kind and ("postprocess" in module or "postprocess" in node.name):
            kind = "postprocessors"
        for name in [*names, node.name] if kind else ():
            self.functions.setdefault(f"{kind}/{name}", (kind, module, node))

    def line(self, node: ast.ClassDef, module: str) -> Iterator[ast.ClassDef]:
        """Yield a class and its ancestors within the package, nearest first."""
        yield node
        for base in node.bases:
            name = ast.unparse(base).rpartition(".")[2]
            known = [each for each in self.classes.get(name, []) if each[1] is not node]
            known.sort(key=lambda each: -len(os.path.commonprefix([each[0], module])))
            if known:
                yield from self.line(known[0][1], known[0][0])


def _registered(node: ast.ClassDef | ast.FunctionDef) -> tuple[str, list[str]]:
    for mark in node.decorator_list:
        text = ast.unparse(mark)
        registry = text.partition(".")[0]
        if registry in REGISTRIES:
            arguments = (
                [*mark.args, *(each.value for each in mark.keywords if each.arg == "name")]
                if isinstance(mark, ast.Call)
                else []
            )
            return REGISTRIES[registry], [
                each.value for each in arguments if isinstance(each, ast.Constant) and isinstance(each.value, str)
            ]
    return "", []


def kind_of(source: Source, module: str, node: ast.ClassDef) -> str:
    """Return what a class is for configs; empty where they do not name it."""
    line = list(source.line(node, module))
    for each in line:
        if kind := _registered(each)[0]:
            return kind
    names = {each.name for each in line} | {
        ast.unparse(base).rpartition(".")[2] for each in line for base in each.bases
    }
    found = [kind for base, kind in BASES.items() if base in names]
    if found:
        return found[0]
    return next((kind for end, kind in ENDINGS.items() if node.name.endswith(end)), "")


def signature_of(source: Source, module: str, node: ast.ClassDef, kind: str) -> str:
    """Return what a config may give to a class, as the arguments of a function are written."""
    if kind == "datasets":
        methods = [method for each in source.line(node, module) if (method := _method(each, "load"))][:1]
        rest = [method for each in source.line(node, module) if (method := _method(each, "__init__"))]
        own = [each for each in rest if each is not None][:1]
        methods[:0] = [each for each in own if not {"reader_cfg", "k"} & {argument.arg for argument in each.args.args}]
    else:
        methods = _initialisers(source, module, node)
    return written(methods, SUPPLIED.get(kind, set()))


def _initialisers(source: Source, module: str, node: ast.ClassDef) -> list[ast.FunctionDef]:
    """Return the ``__init__`` of a class, and those of its ancestors as far as arguments are passed on."""
    found = []
    for each in source.line(node, module):
        if (method := _method(each, "__init__")) is not None:
            found.append(method)
            if method.args.kwarg is None or not _passes_on(method):
                break
    return found


def _passes_on(method: ast.FunctionDef) -> bool:
    """Return whether what a class does not know itself goes on to its parent, rather than nowhere."""
    calls = (node for node in ast.walk(method) if isinstance(node, ast.Call))
    return any(each.arg is None for call in calls if "super()" in ast.unparse(call.func) for each in call.keywords)


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == name), None)


def written(methods: list[ast.FunctionDef], supplied: set[str], skip: int = 0) -> str:
    """Return the arguments of functions together: ``path, name=None, **``; ``**``: it takes whatever it is given."""
    texts: dict[str, str] = {}
    for method in methods:
        arguments = method.args
        listed = [*arguments.posonlyargs, *arguments.args]
        gap: list[ast.expr | None] = [None] * (len(listed) - len(arguments.defaults))
        pairs = [
            *zip(listed, [*gap, *arguments.defaults], strict=True),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for place, (argument, default) in enumerate(pairs):
            if argument.arg in ("self", "cls") or place < skip or argument.arg in supplied:
                continue
            texts.setdefault(argument.arg, argument.arg if default is None else f"{argument.arg}={_value(default)}")
    is_open = bool(methods) and methods[-1].args.kwarg is not None
    required = [text for text in texts.values() if "=" not in text]
    return ", ".join([*required, *(text for text in texts.values() if "=" in text), *(["**"] if is_open else [])])


def _value(node: ast.expr) -> str:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return "..."
    text = repr(value)
    return text if len(text) <= 60 and text.isascii() else "..."


def table_of(folder: Path) -> dict[str, dict[str, str]]:
    """Return the signatures of a package by kind and name."""
    source = Source.of(folder)
    table: dict[str, dict[str, str]] = {}
    for name, entries in source.classes.items():
        for module, node in entries:
            if not (kind := kind_of(source, module, node)) or name.startswith("_"):
                continue
            text = signature_of(source, module, node, kind)
            known = table.setdefault(kind, {})
            for alias in dict.fromkeys(
                [name, *_registered(node)[1]]
            ):  # of several with one name, what any of them takes
                known[alias] = either(known.get(alias, text), text)
    for key, (kind, _, node) in source.functions.items():
        table.setdefault(kind, {}).setdefault(key.partition("/")[2], written([node], set(), skip=1))
    return {kind: dict(sorted(names.items())) for kind, names in sorted(table.items())}


def either(first: str, second: str) -> str:
    """Return what two signatures take together; needed is what both need."""
    parts = [[each for each in text.split(", ") if each] for text in (first, second)]
    names = [{each.partition("=")[0] for each in part} for part in parts]
    if names[0] == names[1]:
        return first
    needed = [each for each in parts[0] if "=" not in each and each != "**" and each in parts[1]]
    rest = dict.fromkeys(each.partition("=")[0] for part in parts for each in part if each != "**")
    texts = [*needed, *(f"{each}=..." for each in rest if each not in needed)]
    return ", ".join([*texts, *(["**"] if "**" in (*parts[0], *parts[1]) else [])])


def version_of(wheel: Path, package: str) -> str:
    """Return the version in a wheel's metadata."""
    name = package.partition("/")[0]
    folder = next(each for each in wheel.glob("*.dist-info") if each.name.startswith(name))
    lines = (folder / "METADATA").read_text(encoding="utf-8").splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith("Version: "))


def signatures() -> dict[str, Mapping[str, object]]:
    """Return the table of both packages."""
    found: dict[str, Mapping[str, object]] = {}
    for project, (wheel, package) in WHEELS.items():
        version = version_of(Path(wheel), package)
        found[project] = {"version": version, **table_of(Path(wheel) / package)}
    return found


def main() -> None:
    """Write the table, or compare it with the sources."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        TABLE.write_text(json.dumps(signatures(), indent=0) + "\n", encoding="utf-8")
        return
    known, found = json.loads(TABLE.read_text(encoding="utf-8")), signatures()
    counts = {
        project: {kind: len(names) for kind, names in table.items() if isinstance(names, Mapping)}
        for project, table in found.items()
    }
    print(json.dumps(counts))
    if known != json.loads(json.dumps(found)):
        print("the sources say something else than the table: run with --write")
        sys.exit(1)


if __name__ == "__main__":
    main()
