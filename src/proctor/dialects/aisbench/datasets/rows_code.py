"""Functions of single rows of exams in programming."""

from __future__ import annotations

import ast
import base64
import json
import pickletools
import re
import zlib
from collections.abc import Mapping
from datetime import datetime

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.dialects.aisbench.datasets.rows_knowledge import Arguments, SingleRowFunction, Texts
from proctor.errors import DataError
from proctor.foreign_text import parse_json

_CONSTANTS = "CodeGenerationPromptConstants"
_LARGEST = 256 * 1024 * 1024
"""Bytes that packed tests may unpack to: a few kilobytes of a damaged or hostile file could become gigabytes."""


def _livecodebench(row: Row, arguments: Arguments, texts: Texts) -> Row | list[Row]:
    """LiveCodeBench: problems of some time, with the form of the program and the tests in it."""
    start, end = _date(arguments.get("start_date")), _date(arguments.get("end_date"))
    if start is not None or end is not None:
        date = datetime.fromisoformat(row["contest_date"])
        if (start is not None and date < start) or (end is not None and date > end):
            return []
    return {**row, "format_prompt": _form(row, texts), "evaluation_sample": _tests(row)}


def _date(text: str | None) -> datetime | None:
    return None if text is None else datetime.strptime(text, "%Y-%m-%d")  # noqa: DTZ007 - contests name no zone


def _form(row: Row, texts: Texts) -> str:
    name = "FORMATTING_MESSAGE_WITH_STARTER_CODE" if row["starter_code"] else "FORMATTING_WITHOUT_STARTER_CODE"
    code = row["starter_code"] or "# YOUR CODE HERE"
    return f"### Format: {texts[f'{_CONSTANTS}.{name}']}\n```python\n{code}\n```\n\n"


def _tests(row: Row) -> str:
    public = parse_json(row["public_test_cases"])
    try:
        private = parse_json(row["private_test_cases"])
    except ValueError:
        private = parse_json(packed_text(row["private_test_cases"]))
    tests = [*public, *private]
    sample = {"inputs": [test["input"] for test in tests], "outputs": [test["output"] for test in tests]}
    return json.dumps({**sample, "fn_name": parse_json(row["metadata"]).get("func_name")})


def packed_text(packed: str) -> str:
    """Return a text that was pickled, compressed and written in base 64; nothing is unpickled.

    Raises:
        DataError: It is something else than one text.
    """
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(base64.b64decode(packed.encode("utf-8")), _LARGEST)
        found = [value for _, value, _ in pickletools.genops(data) if isinstance(value, str)]
    except (ValueError, zlib.error) as error:
        raise DataError("packed tests cannot be read", why=str(error)) from error
    if len(found) != 1 or unpacker.unconsumed_tail:
        raise DataError("packed tests are not one text", why=f"they hold {len(found)} texts")
    return found[0]


def _livecodebench_execution(row: Row, arguments: Arguments, _texts: Texts) -> Row:
    """LiveCodeBench: what a function returns, as a prompt with examples."""
    kind, tag = ("reasoned", "THOUGHT") if arguments["cot"] else ("plain", "ANSWER")
    examples = prompt_texts("livecodebench execution")[kind]
    prompt = f"{examples}{row['code']}\nassert {row['input']} == ??\n[/PYTHON]\n[{tag}]\n"
    sample = json.dumps({"code": row["code"], "input": row["input"], "output": row["output"]})
    return {**row, "prompt": prompt, "evaluation_sample": sample}


def _livecodebench_test_output(row: Row, _arguments: Arguments, _texts: Texts) -> Row:
    """LiveCodeBench: a test whose expected value is missing."""
    test = parse_json(row["test"])[0]
    code, given = row["starter_code"], ", ".join(test["input"].split("\n"))
    prompt = (
        f"Problem:\n{row['question_content']}Function:\n```\n{code}\n```\nPlease complete the following test case:\n\n"
        f"```\nassert {_only_function(code)}({given}) == # TODO\n```\n"
    )
    sample = json.dumps({"input": row["question_content"], "output": test["output"]})
    shown = {"testcase_input": test["input"], "testcase_output": test["output"]}
    return {**row, **shown, "prompt": prompt, "evaluation_sample": sample}


def _only_function(code: str) -> str:
    names = [node.name for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    if len(names) > 1:
        raise ValueError(f"the starter code has {len(names)} functions")
    return names[0] if names else "None"


def _starters(row: Row, _arguments: Arguments, _texts: Texts) -> Row:
    """APPS and TACO: the code to begin with, and how the program gets its input."""
    try:
        named = parse_json(row["input_output"]).get("fn_name")
    except ValueError:
        named = None
    how = "Call-Based" if named or row["starter_code"] else "Standard Input"
    new = {**row, "starter": f"{row['starter_code']}\\nUse {how} format"}
    if "problem_id" in row:  # TACO's stands behind
        new["problem_id"] = new.pop("problem_id")
    return new


_LITERAL = re.compile("<(STR|NUM|CHAR)_LIT:(.*?)>", re.DOTALL)


def _py150(row: Row, _arguments: Arguments, _texts: Texts) -> Row:
    """Python files as one text, with their literals put back; each line is JSON once they are."""
    text = row["line"].replace("<NUM_LIT>", "0").replace("<STR_LIT>", "").replace("<CHAR_LIT>", "")
    for kind, literal in _LITERAL.findall(text):
        text = text.replace(f"<{kind}_LIT:{literal}>", literal)
    new: Row = parse_json(text)
    new["input"] = "\n".join(new["input"].replace("<s>", "").split("<EOL>"))
    return {name: value for name, value in new.items() if name != "id"}


FUNCTIONS: Mapping[str, SingleRowFunction] = {
    "livecodebench": _livecodebench,
    "livecodebench_execution": _livecodebench_execution,
    "livecodebench_test_output": _livecodebench_test_output,
    "starters": _starters,
    "py150": _py150,
}
