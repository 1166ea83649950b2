"""Made-up rows for a task whose data is not here: columns from what its file and its helper read, values by trial.

Needs neither lm-eval nor Proctor. A column's value starts as what its name suggests; where the task stumbles over the
rows, the columns on the line that it stumbled over are given values of another shape.
"""

from __future__ import annotations

import ast
import random
import re
from dataclasses import dataclass, field
from typing import Any

TEXTS = (
    "Why do herons stand on one leg?",
    "Amber, basalt and cedar: which one burns?\nThink of trees.",
    "Tom has 12 pears and eats 5; how many are left? He has 12-5=<<12-5=7>>7.\n#### 7",
    "Ébène, naïve café — “quoted” & 100% sure.",
    "def add(a, b):\n    return a + b",
    "The answer is (B). So $x = \\boxed{\\frac{1}{2}}$.",
    "yes",
    "  spaces before, a _ blank and a [MASK]  ",
    "中文问题:天空是什么颜色?",
    "one two three four five six seven eight nine ten eleven twelve.",
)
WORDS = ("heron", "amber", "basalt", "cedar", "delta", "ember", "fjord", "yes", "no", "Paris", "12", "seven")
SHAPES = (
    *("text", "letter", "index", "texts", "number text", "word", "flag", "numbers", "indices", "text and label lists"),
    *("labelled list", "json texts", "python texts", "json dict", "real", "letters", "json tests", "nested texts"),
    *("option", "picture", "pictures", "nothing", "year", "offsets", "turns", "one text", "json indices"),
)
"""What a value may be; those that rows have most often come first."""

_BY_NAME = (
    (r"^array$", "numbers"),
    (r"^sampling_rate$", "rate"),
    (r"image_\d|^(image|img|picture|decoded_image)$", "picture"),
    (r"^(images|pictures)$", "pictures"),
    (r"(choices|options|endings|candidates|answers|aliases|distractors|targets|references|incorrect|mc)", "texts"),
    (r"(label|idx|index|gold|^id$|level|answer_num|correct_option|position)", "index"),
    (r"(answerkey|answer_letter|correct_choice|cop)", "letter"),
    (r"(test_list|tests|keywords)", "texts"),
    (r"(messages|conversation|turns)", "turns"),
)


@dataclass(slots=True)
class Column:
    """What is known of a column.

    Attributes:
        shape: Which shape its values have now.
        inside: The columns within it, where code looks inside.
        constants: What code compares it with, or looks it up among.
        preferred: Those of them that the task's own functions name.
        is_list: Whether what is inside stands in a list.
    """

    shape: str = "text"
    inside: dict[str, Column] = field(default_factory=dict)
    constants: list[Any] = field(default_factory=list)
    preferred: list[Any] = field(default_factory=list)
    is_list: bool = False


class Guess:
    """The columns of a task, and rows of them.

    Args:
        sources: Texts of the helper files.
        templates: Jinja and names of columns from the task's file.
        seed: Of what is tried.
        functions: The names of the task's functions.
    """

    def __init__(self, sources: list[str], templates: list[str], seed: int, functions: frozenset[str]) -> None:
        self.columns: dict[str, Column] = {}
        self._functions = functions
        self._draw = random.Random(seed)
        for source in sources:
            self._read_code(source)
        for template in templates:
            self._read_template(template)
        if not self.columns:
            self._add(("text",))

    def _add(self, path: tuple[str, ...]) -> Column:
        columns, column = self.columns, Column()
        for name in path:
            if name not in columns:
                columns[name] = Column(_by_name(name))
            column = columns[name]
            columns = column.inside
        return column

    def _read_code(self, source: str) -> None:
        try:
            tree = ast.parse(source)
        except SyntaxError:
            return
        own = [each for node in tree.body if _names(node) & self._functions for each in _all_constants(node)]
        dicts = {
            name: [each.value for each in node.value.keys if isinstance(each, ast.Constant)]
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
            for name in _names(node)
        }
        for node in ast.walk(tree):
            if (path := _path(node)) is not None:
                self._add(path)
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                values = [each for side in sides for each in _constants(side)]
                for path in filter(None, map(_path, sides)):
                    self._compared(path, values, own)
            if isinstance(node, ast.Subscript) and (path := _path(node.slice)) is not None:
                held = node.value
                keys = held.keys if isinstance(held, ast.Dict) else []
                found = [each.value for each in keys if isinstance(each, ast.Constant)]
                self._compared(path, found or dicts.get(getattr(held, "id", ""), []), [])
            is_index = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "index" and node.args
            if is_index and (path := _path(node.args[0])) is not None:
                self._compared(path, _constants(node.func.value), [])

    def _compared(self, path: tuple[str, ...], values: list[Any], own: list[Any]) -> None:
        column = self._add(path)
        column.constants += values or own
        column.preferred += [each for each in own if each in values or not values]
        if any(isinstance(each, str) for each in column.constants):
            column.shape = "constant"

    def _read_template(self, template: str) -> None:
        if re.fullmatch(r"[A-Za-z_][\w-]*", template):
            self._add((template,))
            return
        for listed, name in re.findall(r"\[([^\[\]]+)\]\.index\(([A-Za-z_]\w*)", template):
            self._compared((name,), re.findall(r"['\"]([^'\"]+)['\"]", listed), [])
        for block in re.findall(r"\{[{%](.*?)[}%]\}", template, re.DOTALL):
            bare = re.sub(r"'[^']*'|\"[^\"]*\"", "''", block)
            for name in re.findall(r"(?<![\w.|])([A-Za-z_]\w*)(?!\w*\s*\()", bare):
                if name not in _JINJA:
                    self._add((name,))
            for name, key in re.findall(r"([A-Za-z_]\w*)(?:\.|\[['\"])([A-Za-z_]\w*)", block):
                if name in self.columns and name not in _JINJA and key not in _METHODS:
                    self._add((name, key))

    def learn(self, message: str, line: str) -> bool:
        """Change something after a failure; returns whether there was anything to go by.

        Args:
            message: The error.
            line: The lines of the helper, or the template, that it came from.
        """
        missing = re.match(r"""(?:KeyError|UndefinedError): \\?['"](\w[\w -]*)\\?['"]""", message)
        if missing and missing.group(1) not in self.columns and self._draw.random() < 0.8:
            self._add((missing.group(1),))
            return True
        leaves = list(_leaves(self.columns))
        compared = [each for _, each in leaves if each.constants and each.shape != "constant"]
        if "out of bounds for size 0" in message and compared and self._draw.random() < 0.6:
            self._draw.choice(compared).shape = "constant"
            return True
        named = [(path, leaf) for path, leaf in leaves if re.search(rf"\b{re.escape(path[-1])}\b", line)]
        chosen = named if named and self._draw.random() < 0.85 else leaves
        _, column = self._draw.choice(chosen)
        suited = next((shapes for pattern, shapes in _HINTS if re.search(pattern, message)), ())
        if suited and not column.inside and self._draw.random() < 0.6:
            column.shape = self._draw.choice(suited)
        else:
            self._reshape(column)
        return bool(named)

    def _reshape(self, column: Column) -> None:
        if column.inside and self._draw.random() < 0.7:
            column.is_list = not column.is_list
            return
        if column.constants and self._draw.random() < 0.4:
            column.shape = "constant"
            return
        place = min(int(self._draw.expovariate(0.16)), len(SHAPES) - 1)
        column.shape = SHAPES[place]
        if column.inside and self._draw.random() < 0.3:
            column.inside.clear()

    def rows(self, count: int, split: str) -> list[dict[str, Any]]:
        """Return rows of the columns as they are guessed now; equal calls give equal rows."""
        return [
            {
                name: _value(column, _Row(f"{split} {row} {name}", f"{split} {row}"), name)
                for name, column in self.columns.items()
            }
            for row in range(count)
        ]

    def shapes(self) -> dict[str, str]:
        """Return what the columns are, for a record."""
        return {
            ".".join(path): column.shape if not column.inside else ("list" if column.is_list else "dict")
            for path, column in _leaves(self.columns)
        }


_JINJA = frozenset(
    [
        "if",
        "else",
        "elif",
        "endif",
        "for",
        "endfor",
        "in",
        "not",
        "and",
        "or",
        "is",
        "set",
        "endset",
        "true",
        "false",
        "none",
        "True",
        "False",
        "None",
        "loop",
        "range",
        "doc",
        "joiner",
        "namespace",
        "defined",
        "length",
        "macro",
        "endmacro",
        "raw",
        "endraw",
    ]
)
_METHODS = frozenset(
    [
        "index",
        "split",
        "strip",
        "items",
        "keys",
        "values",
        "replace",
        "format",
        "join",
        "lower",
        "upper",
        "append",
        "get",
        "title",
    ]
)
_ROWS = frozenset(
    [
        "doc",
        "x",
        "example",
        "row",
        "sample",
        "item",
        "ex",
        "instance",
        "d",
        "line",
        "entry",
        "datum",
        "data",
        "problem",
        "inputs",
        "doc_",
        "_doc",
    ]
)


_HINTS = (
    (r"malformed node", ("python texts", "python texts", "number text", "json dict", "json indices")),
    (r"JSONDecode|Expecting value|JSON object must", ("json texts", "json dict", "json tests", "json indices")),
    (r"invalid literal for int|could not convert string to float|not .*'str' and 'int'", ("number text", "index")),
    (r"list indices must be integers, not 'str'|list indices must be", ("index", "text and label lists", "letter")),
    (r"string indices must be integers", ("text and label lists", "labelled list", "turns", "nested texts")),
    (
        r"'(list|dict|int|bool|NoneType|float)' object has no attribute '\w*(strip|lower|split|replace|upper|encode)",
        ("text", "word"),
    ),
    (r"expected str|must be str|can only concatenate str|expected string", ("text", "letter", "number text")),
    (r"can only concatenate list|expected list", ("texts",)),
    (r"is not in list|not in list", ("option", "letter", "index", "constant", "word")),
    (r"out of range|not iterable|has no len", ("texts", "index", "one text", "text")),
    (r"has no attribute '(items|keys|values|get)'", ("text and label lists", "json dict")),
    (r"has no attribute '(convert|size|mode|save)'|decode_image|PIL", ("picture", "pictures")),
    (r"^KeyError: '?[A-Z0-9]'?$", ("letter", "index", "number text")),
    (r"KeyError", ("constant", "letter", "index")),
    (r"choice\[0\]|string index", ("texts", "text")),
)
"""Shapes that an error suggests."""


def _path(node: ast.AST) -> tuple[str, ...] | None:
    """Return the keys of ``doc["a"]["b"]``, also where ``get`` reads them."""
    keys: list[str] = []
    while True:
        if isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                keys.insert(0, node.slice.value)
            node = node.value
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in ("get", "pop")
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            keys.insert(0, node.args[0].value)
            node = node.func.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args:
            node = node.func.value
        else:
            break
    return tuple(keys) if keys and isinstance(node, ast.Name) and node.id in _ROWS else None


def _constants(node: ast.AST) -> list[Any]:
    parts = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]
    return [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str | int)]


def _names(node: ast.AST) -> set[str]:
    """Return what a statement defines."""
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {each.id for each in targets if isinstance(each, ast.Name)}


def _all_constants(node: ast.AST) -> list[Any]:
    """Return the short texts in a statement."""
    values = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant)]
    return [each for each in values if isinstance(each, str) and 0 < len(each) < 60]


def _by_name(name: str) -> str:
    return next((shape for pattern, shape in _BY_NAME if re.search(pattern, name.lower())), "text")


def _leaves(columns: dict[str, Column], above: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Column]]:
    found = []
    for name, column in columns.items():
        found.append(((*above, name), column))
        found += _leaves(column.inside, (*above, name))
    return found


class _Row(random.Random):
    """The random numbers of one column of a row, and the four options that all its columns speak of."""

    def __init__(self, seed: str, row: str) -> None:
        super().__init__(seed)
        self.options = [f"{each} {number}" for number, each in enumerate(random.Random(row).sample(WORDS, 4))]


def _value(column: Column, draw: _Row, name: str) -> Any:
    if column.inside:

        def one() -> dict[str, Any]:
            return {each: _value(inner, draw, each) for each, inner in column.inside.items()}

        return [one() for _ in range(3)] if column.is_list else one()
    if column.shape == "constant" and column.constants:
        return draw.choice(column.preferred if column.preferred and draw.random() < 0.8 else column.constants)
    return _MAKERS[column.shape if column.shape in _MAKERS else "text"](draw, name)


def _text(draw: random.Random, name: str) -> str:
    return f"{draw.choice(TEXTS)} {draw.choice(WORDS)}" if draw.random() < 0.7 else f"{name} {draw.choice(WORDS)}"


def _picture(draw: random.Random) -> Any:
    from PIL import Image

    return Image.new("RGB", (12, 9), (draw.randrange(256), draw.randrange(256), draw.randrange(256)))


def _json(value: Any) -> str:
    import json

    return json.dumps(value)


_MAKERS: dict[str, Any] = {
    "text": _text,
    "letter": lambda draw, name: draw.choice("ABCD"),
    "index": lambda draw, name: draw.randrange(3),
    "texts": lambda draw, name: list(draw.options),
    "option": lambda draw, name: draw.choice(draw.options),
    "number text": lambda draw, name: str(draw.randrange(1, 4)),
    "word": lambda draw, name: draw.choice(WORDS),
    "flag": lambda draw, name: draw.random() < 0.5,
    "numbers": lambda draw, name: [float(draw.randrange(9)) for _ in range(4)],
    "indices": lambda draw, name: [int(number == 1) for number in range(4)],
    "text and label lists": lambda draw, name: {
        "text": [draw.choice(WORDS) for _ in range(4)],
        "label": list("ABCD"),
    },
    "labelled list": lambda draw, name: [{"label": each, "text": draw.choice(WORDS)} for each in "ABCD"],
    "json texts": lambda draw, name: _json(draw.options),
    "python texts": lambda draw, name: repr(draw.options),
    "json dict": lambda draw, name: _json({each: draw.choice(WORDS) for each in "ABCD"}),
    "real": lambda draw, name: draw.randrange(50) / 10,
    "letters": lambda draw, name: list("ABCD"),
    "json tests": lambda draw, name: _json([{"input": "1", "output": "2"}]),
    "nested texts": lambda draw, name: [[draw.choice(WORDS), draw.choice(WORDS)] for _ in range(2)],
    "picture": lambda draw, name: _picture(draw),
    "pictures": lambda draw, name: [_picture(draw)],
    "nothing": lambda draw, name: None,
    "year": lambda draw, name: str(2000 + draw.randrange(25)),
    "offsets": lambda draw, name: [[0, 3], [4, 6]],
    "turns": lambda draw, name: [
        {"role": "user", "content": draw.choice(TEXTS)},
        {"role": "assistant", "content": draw.choice(WORDS)},
    ],
    "one text": lambda draw, name: [draw.choice(WORDS)],
    "rate": lambda draw, name: 16000,
    "json indices": lambda draw, name: "[1, 2]",
}
