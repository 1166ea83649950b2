"""The Berkeley leaderboard's side of ``function_calls.py``: its questions, tools, prompts, and what it calls right.

Usage: ``python function_calls_oracle.py WHEEL OUT.json``. Packages that it imports and does not use here need not be
installed.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import random
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

_NEEDED = ("bfcl_eval", "numpy", "dateutil")
_OPTIONAL = ("simplejson", "chardet", "brotli", "brotlicffi", "socks", "cchardet", "OpenSSL", "h2", "zstandard")
"""What other packages do without where it is not installed."""
CATEGORIES = (
    "simple", "multiple", "parallel", "parallel_multiple", "java", "javascript", "live_simple", "live_multiple",
    "live_parallel", "live_parallel_multiple", "irrelevance", "live_relevance", "live_irrelevance",
)  # fmt: skip
OF_EACH, ANSWERS = 250, 8
_FOREIGN = (
    "1", "-3", "2L", "3.5", "3.5f", "true", '"a"', "'c'", "new int[]{1, 2}", 'new String[]{"a", "b"}', "xyz", "12n", "", "{}", "[]",
    'new ArrayList<>(Arrays.asList("a", "b"))', "new ArrayList<Integer>() {{ add(1); add(2); }}", "new ArrayList<>()", "abc def",
    'new HashMap<String, Object>() {{ put("k", 1); put("b", true); }}', "new HashMap<>()", "[1, 2, 3]", '["a","b"]', "{'k': 'v'}",
    "[[1,2],[3,4]]", "new Array(1, 2)", '{"a": 1, "b": [1, 2], "c": {"d": 2}}',
)  # fmt: skip
_ODD = (
    "I cannot do it.", "[]", "f(x=-5)", "[f(a=1+2), g(b=[1,(2,3)], c={'a':x.y})]", "[f(a=h(2), b=h(z=1), c=d[0])]", "f(a=not True)",
    "f", "[f(1,2)]", '[f(**{"a":1})]', "f(a=...)", "[f(a=lambda: 1)]", "{f(a=1)}", "f(a=f'{x}')", "[math.add(a=max(1,2)+1)]",
)  # fmt: skip


class _Unused(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands for packages that are imported and not used."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:  # noqa: ARG002 - as Python calls it
        """Return a module for any name that nothing else finds."""
        if name.split(".", maxsplit=1)[0] in (*_NEEDED, *_OPTIONAL):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        """Return a module that has everything."""
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__name__ = [], spec, spec.name
        return module

    def exec_module(self, module: Any) -> None:
        """Do nothing."""


def _changed(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return draw.choice([not value, str(value), int(value)])
    if isinstance(value, int | float):
        return draw.choice([value + 1, float(value), str(value), [value], value])
    if isinstance(value, str):
        return draw.choice([value.upper(), f"{value}.", value.replace(" ", "-"), f"{value}z", [value], 3, ""])
    if isinstance(value, list):
        return draw.choice([value[::-1], value[:-1], value + value, [*value, "q"], "v", {"a": 1}, [1], [{}]])
    return draw.choice([{}, {**value, "zz": 1}, [value], "v"]) if isinstance(value, dict) else 1


def _value(options: Any, rate: float, draw: random.Random) -> Any:
    if not isinstance(options, list):
        return options
    value = draw.choice([each for each in options if each != ""] or [None])
    if isinstance(value, dict):
        value = {
            key: _value(each, rate, draw)
            for key, each in value.items()
            if not (isinstance(each, list) and "" in each and draw.random() < 0.5)
        }
    elif isinstance(value, list):
        value = [
            {k: _value(v, rate, draw) for k, v in each.items()} if isinstance(each, dict) else each for each in value
        ]
    return _changed(value, draw) if draw.random() < rate else value


def _calls(gold: list[Any], rate: float, language: str, draw: random.Random) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for call in gold:
        ((name, options),) = call.items()
        given = {}
        for key, values in options.items():
            if ("" in values and draw.random() < 0.5) or draw.random() < rate / 10:
                continue
            value = _value(values, rate, draw)
            if language != "Python":
                value = (
                    draw.choice(_FOREIGN)
                    if draw.random() < rate
                    else value
                    if isinstance(value, str)
                    else json.dumps(value)
                )
            given[key] = value
        if draw.random() < rate / 10:
            given["extra"] = 1
        found.append((name.replace(".", "_") if draw.random() < 0.9 else name, given))
    if draw.random() < 0.3:
        draw.shuffle(found)
    return found[:-1] if draw.random() < rate / 5 else found


def _answer(gold: list[Any], place: int, language: str, draw: random.Random) -> Any:
    calls = _calls(gold, (0, 0, 0.3, 0.3, 0.6, 1, 0.1, 0.2)[place], language, draw)
    if place % 2 == 0:
        return (
            [{name: json.dumps(given)} for name, given in calls]
            if draw.random() < 0.95
            else draw.choice([[], [{"f": '{"a":'}], [{"f": "[1]"}]])
        )
    written = ", ".join(
        f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls
    )
    return draw.choice([f"[{written}]"] * 7 + [written, f"```\n[{written}]\n```", draw.choice(_ODD)])


def cases(data: Path) -> Iterator[dict[str, Any]]:
    """Yield questions with tools, messages in words, and answers with whether they are right."""
    from bfcl_eval.constants.type_mappings import GORILLA_TO_OPENAPI
    from bfcl_eval.model_handler import utils
    from bfcl_eval.model_handler.model_style import ModelStyle

    draw = random.Random(5)
    for category in CATEGORIES:
        lines = (data / f"BFCL_v3_{category}.json").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        golds: list[Any] = [["relevance_mock_gt"]] * len(rows)
        if "relevance" not in category:
            answers = (data / "possible_answer" / f"BFCL_v3_{category}.json").read_text().splitlines()
            golds = [json.loads(line)["ground_truth"] for line in answers]
        language = "JavaScript" if "javascript" in category else "Java" if "java" in category else "Python"
        pairs = list(zip(rows, golds, strict=True))
        for row, gold in draw.sample(pairs, min(OF_EACH, len(pairs))):
            copy = json.loads(json.dumps(row))
            kind = row["id"].rsplit("_", 1)[0]
            functions = utils.func_doc_language_specific_pre_processing(copy["function"], kind)
            words = utils.system_prompt_pre_processing_chat_model(copy["question"][0], functions, kind)
            asked = gold if "relevance" not in category else [{"f": {}}]
            given = [_answer(asked, place, language, draw) for place in range(ANSWERS)]
            yield {
                "category": category, "row": row, "gold": gold, "words": words,
                "tools": utils.convert_to_tool(functions, GORILLA_TO_OPENAPI, ModelStyle.OpenAI),
                "answers": [[each, _is_right(each, row, gold, language, category)] for each in given],
            }  # fmt: skip


def _is_right(given: Any, row: Any, gold: Any, language: str, category: str) -> bool:
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker
    from bfcl_eval.model_handler.utils import default_decode_ast_prompting
    from bfcl_eval.utils import is_empty_output, is_function_calling_format_output

    try:
        if isinstance(given, list):
            calls = [{name: json.loads(call[name])} for call in given for name in list(call)[:1]]
        else:
            calls = default_decode_ast_prompting(given, "Python")
    except Exception:  # noqa: BLE001 - as AISBench's evaluator takes it
        return "irrelevance" in row["id"] if "relevance" in category else False
    if "relevance" in category:
        return is_empty_output(calls) is ("irrelevance" in row["id"])
    if not is_function_calling_format_output(calls):
        return False
    functions = json.loads(json.dumps(row["function"]))
    return bool(ast_checker(functions, calls, gold, language, category, "qwen3-32b-FC")["valid"])


def main() -> None:
    """Write all cases."""
    wheel, out = sys.argv[1:]
    sys.path.insert(0, wheel)
    sys.meta_path.append(_Unused())
    models = types.ModuleType("bfcl_eval.constants.model_config")  # it imports the clients of all providers
    models.MODEL_CONFIG_MAPPING = {"qwen3-32b-FC": types.SimpleNamespace(underscore_to_dot=True)}  # type: ignore[attr-defined]
    sys.modules[models.__name__] = models
    Path(out).write_text(json.dumps(list(cases(Path(wheel) / "bfcl_eval" / "data"))))


main()
