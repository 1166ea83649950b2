"""Records the signatures of a vLLM release that ``proctor.engines.vllm`` relies on, without importing vLLM.

Usage: ``python -m conformance.vllm.signatures FOLDER > tests/engines/vllm/vllm_signatures.json``, where FOLDER holds
a wheel of vLLM. Names only, read from the syntax trees of the files in the wheel.
"""

from __future__ import annotations

import ast
import json
import sys
import zipfile
from pathlib import Path


def tree_of(wheel: zipfile.ZipFile, path: str) -> ast.Module:
    """Return the syntax tree of a file in the wheel."""
    return ast.parse(wheel.read(path))


def class_of(tree: ast.Module, name: str) -> ast.ClassDef:
    """Return the class of this name."""
    return next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)


def arguments_of(node: ast.ClassDef, name: str) -> dict[str, list[str]]:
    """Return the names of a method's arguments: those that may be positional, and those that may not."""
    for each in node.body:
        is_overload = isinstance(each, ast.FunctionDef) and any(
            isinstance(mark, ast.Name) and mark.id == "overload" for mark in each.decorator_list
        )
        if isinstance(each, ast.FunctionDef) and each.name == name and not is_overload:
            positional = [argument.arg for argument in (*each.args.posonlyargs, *each.args.args)]
            return {"positional": positional[1:], "keyword": [argument.arg for argument in each.args.kwonlyargs]}
    raise LookupError(f"{node.name} has no method '{name}'")


def fields_of(node: ast.ClassDef) -> list[str]:
    """Return the annotated public fields of a class."""
    names = [
        each.target.id for each in node.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    ]
    return [name for name in names if not name.startswith("_")]


def main(folder: str) -> None:
    """Print the signatures as JSON."""
    path = next(Path(folder).glob("vllm-*.whl"))
    with zipfile.ZipFile(path) as wheel:
        llm = class_of(tree_of(wheel, "vllm/entrypoints/llm.py"), "LLM")
        outputs = tree_of(wheel, "vllm/outputs.py")
        found = {
            "version": path.name.split("-")[1],
            "LLM": arguments_of(llm, "__init__"),
            "LLM.generate": arguments_of(llm, "generate"),
            "EngineArgs": fields_of(class_of(tree_of(wheel, "vllm/engine/arg_utils.py"), "EngineArgs")),
            "SamplingParams": fields_of(class_of(tree_of(wheel, "vllm/sampling_params.py"), "SamplingParams")),
            "TokensPrompt": fields_of(class_of(tree_of(wheel, "vllm/inputs/llm.py"), "TokensPrompt")),
            "RequestOutput": arguments_of(class_of(outputs, "RequestOutput"), "__init__"),
            "CompletionOutput": fields_of(class_of(outputs, "CompletionOutput")),
            "Logprob": fields_of(class_of(tree_of(wheel, "vllm/logprobs.py"), "Logprob")),
            "LoRARequest": fields_of(class_of(tree_of(wheel, "vllm/lora/request.py"), "LoRARequest")),
        }
    json.dump(found, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
