"""Expressions from files: a small part of Python, compiled to functions, never evaluated.

Allowed are literals, fields, operators, comparisons, ``if``/``else``, subscripts, comprehensions, f-strings, a few
functions, and methods that read strings, lists, dicts and regular-expression matches. There are no statements, no
attributes that start with an underscore, no calls of anything that is not on a list, no method that changes its
object, and no ``str.format`` (it reaches attributes). Work is bounded: a budget of steps for each evaluation, a
largest size for whatever grows faster than its input, and no regular expression whose repetitions nest.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from proctor.data.expression_functions import BINARY, BUILTINS, COMPARE, MODULES, READERS, UNARY, WIDE, method
from proctor.errors import DataError, MissingFieldError, TrustError, did_you_mean

MAX_STEPS = 1_000_000
"""Iterations and calls in one evaluation."""

_MAX_TEXT = 10_000


class Frame:
    """One evaluation: the row, the variables of comprehensions, and the steps taken."""

    __slots__ = ("local", "row", "steps")

    def __init__(self, row: Mapping[str, Any]) -> None:
        self.row = row
        self.local: dict[str, Any] = {}
        self.steps = 0

    def step(self, count: int = 1) -> None:
        """Count work, and refuse what is too much of it."""
        self.steps += count
        if self.steps > MAX_STEPS:
            raise DataError("an expression takes too long", why=f"it needs more than {MAX_STEPS} steps")

    def charge(self, value: Any) -> Any:
        """Return a value after counting its size as work, so that many large values are refused like many steps."""
        if isinstance(value, _SIZED):
            self.step(len(value) // 8)
        return value


_SIZED = (str, bytes, list, tuple, dict, set, frozenset)

Code = Callable[[Frame], Any]


class _Compiler:
    def __init__(self, text: str, imports: Sequence[str]) -> None:
        self.text = text
        self.modules = imports

    def refuse(self, node: ast.AST, why: str = "") -> TrustError:
        return TrustError(
            f"'{ast.unparse(node)}' is not allowed in an expression",
            path=self.text,
            why=why,
            hint="write a Python operator for what expressions cannot do",
        )

    def compile(self, node: ast.AST) -> Code:
        compiler = getattr(self, f"_{type(node).__name__.lower()}", None)
        if compiler is None:
            raise self.refuse(node)
        code: Code = compiler(node)
        return code

    def all(self, nodes: Iterable[ast.expr]) -> Callable[[Frame], list[Any]]:
        parts = [
            (isinstance(n, ast.Starred), self.compile(n.value if isinstance(n, ast.Starred) else n)) for n in nodes
        ]

        def code(frame: Frame) -> list[Any]:
            values: list[Any] = []
            for starred, part in parts:
                values.extend(part(frame)) if starred else values.append(part(frame))
            return values

        return code

    def _constant(self, node: ast.Constant) -> Code:
        value = node.value
        return lambda _: value

    def _name(self, node: ast.Name) -> Code:
        name = node.id
        if name.startswith("__"):
            raise self.refuse(node)
        known = BUILTINS.get(name, BUILTINS)
        modules = self.modules

        def code(frame: Frame) -> Any:
            if name in frame.local:
                return frame.local[name]
            if name in frame.row:
                return frame.row[name]
            if known is not BUILTINS:
                return known
            why = "it has to be in imports_list" if name in MODULES and name not in modules else ""
            raise MissingFieldError(
                f"the expression '{self.text}' names '{name}', which the row does not have",
                why=why or f"the row has {', '.join(map(str, frame.row))}",
                hint=did_you_mean(name, map(str, frame.row)),
            )

        return code

    def _binop(self, node: ast.BinOp) -> Code:
        function = BINARY.get(type(node.op))
        if function is None:
            raise self.refuse(node)
        left, right = self.compile(node.left), self.compile(node.right)
        return lambda frame: frame.charge(function(left(frame), right(frame)))

    def _unaryop(self, node: ast.UnaryOp) -> Code:
        function, operand = UNARY[type(node.op)], self.compile(node.operand)
        return lambda frame: function(operand(frame))

    def _boolop(self, node: ast.BoolOp) -> Code:
        parts, stop = [self.compile(each) for each in node.values], isinstance(node.op, ast.Or)

        def code(frame: Frame) -> Any:
            value: Any = None
            for part in parts:
                value = part(frame)
                if bool(value) is stop:
                    return value
            return value

        return code

    def _compare(self, node: ast.Compare) -> Code:
        first = self.compile(node.left)
        rest = [(COMPARE[type(op)], self.compile(each)) for op, each in zip(node.ops, node.comparators, strict=True)]

        def code(frame: Frame) -> Any:
            left, result = first(frame), True
            for function, part in rest:
                right = part(frame)
                result = function(left, right)
                if not result:
                    return result
                left = right
            return result

        return code

    def _ifexp(self, node: ast.IfExp) -> Code:
        test, then, otherwise = self.compile(node.test), self.compile(node.body), self.compile(node.orelse)
        return lambda frame: then(frame) if test(frame) else otherwise(frame)

    def _subscript(self, node: ast.Subscript) -> Code:
        value, index = self.compile(node.value), self.compile(node.slice)
        return lambda frame: value(frame)[index(frame)]

    def _slice(self, node: ast.Slice) -> Code:
        parts = [self.compile(part) if part else (lambda _: None) for part in (node.lower, node.upper, node.step)]
        return lambda frame: slice(*[part(frame) for part in parts])

    def _list(self, node: ast.List) -> Code:
        return self.all(node.elts)

    def _tuple(self, node: ast.Tuple) -> Code:
        items = self.all(node.elts)
        return lambda frame: tuple(items(frame))

    def _set(self, node: ast.Set) -> Code:
        items = self.all(node.elts)
        return lambda frame: set(items(frame))

    def _dict(self, node: ast.Dict) -> Code:
        pairs = [
            (self.compile(key) if key else None, self.compile(value))
            for key, value in zip(node.keys, node.values, strict=True)
        ]

        def code(frame: Frame) -> dict[Any, Any]:
            made: dict[Any, Any] = {}
            for key, value in pairs:
                made.update(value(frame) if key is None else {key(frame): value(frame)})
            return made

        return code

    def _joinedstr(self, node: ast.JoinedStr) -> Code:
        parts = [self.compile(part) for part in node.values]
        return lambda frame: "".join(map(str, [part(frame) for part in parts]))

    def _formattedvalue(self, node: ast.FormattedValue) -> Code:
        value = self.compile(node.value)
        spec = self.compile(node.format_spec) if node.format_spec else (lambda _: "")
        conversions: dict[int, Callable[[Any], Any]] = {ord("s"): str, ord("r"): repr, ord("a"): ascii}
        convert = conversions.get(node.conversion, lambda each: each)

        def code(frame: Frame) -> str:
            layout = spec(frame)
            if WIDE.search(layout):
                raise DataError("an expression makes too large a value", why="a format with a width of five digits")
            return format(convert(value(frame)), layout)

        return code

    # comprehensions

    def _listcomp(self, node: ast.ListComp) -> Code:
        element, rows = self.compile(node.elt), self.loop(node.generators)
        return lambda frame: [element(inner) for inner in rows(frame)]

    def _setcomp(self, node: ast.SetComp) -> Code:
        element, rows = self.compile(node.elt), self.loop(node.generators)
        return lambda frame: {element(inner) for inner in rows(frame)}

    def _generatorexp(self, node: ast.GeneratorExp) -> Code:
        element, rows = self.compile(node.elt), self.loop(node.generators)
        return lambda frame: iter([element(inner) for inner in rows(frame)])

    def _dictcomp(self, node: ast.DictComp) -> Code:
        key, value, rows = self.compile(node.key), self.compile(node.value), self.loop(node.generators)
        return lambda frame: {key(inner): value(inner) for inner in rows(frame)}

    def loop(self, generators: list[ast.comprehension]) -> Callable[[Frame], Iterator[Frame]]:
        levels = []
        for each in generators:
            if each.is_async:
                raise self.refuse(each.iter)
            levels.append(
                (self.target(each.target), self.compile(each.iter), [self.compile(test) for test in each.ifs])
            )

        def run(frame: Frame, depth: int) -> Iterator[Frame]:
            if depth == len(levels):
                yield frame
                return
            bind, source, tests = levels[depth]
            for item in source(frame):
                frame.step()
                bind(frame.local, item)
                if all(test(frame) for test in tests):
                    yield from run(frame, depth + 1)

        def rows(frame: Frame) -> Iterator[Frame]:
            outer = frame.local
            frame.local = dict(outer)
            try:
                yield from run(frame, 0)
            finally:
                frame.local = outer

        return rows

    def target(self, node: ast.expr) -> Callable[[dict[str, Any], Any], None]:
        if isinstance(node, ast.Name):
            name = node.id
            return lambda local, value: local.__setitem__(name, value)
        if isinstance(node, (ast.Tuple, ast.List)):
            parts = [self.target(each) for each in node.elts]

            def unpack(local: dict[str, Any], value: Any) -> None:
                for part, item in zip(parts, value, strict=True):
                    part(local, item)

            return unpack
        raise self.refuse(node)

    # calls

    def _lambda(self, node: ast.Lambda) -> Code:
        names = [argument.arg for argument in node.args.args]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults or node.args.posonlyargs:
            raise self.refuse(node, why="only plain parameters")
        body = self.compile(node.body)

        def code(frame: Frame) -> Callable[..., Any]:
            captured = frame.local

            def function(*arguments: Any) -> Any:
                frame.step()
                outer, frame.local = frame.local, {**captured, **dict(zip(names, arguments, strict=True))}
                try:
                    return body(frame)
                finally:
                    frame.local = outer

            return function

        return code

    def _call(self, node: ast.Call) -> Code:
        function = self.callee(node.func)
        arguments = self.all(node.args)
        if any(keyword.arg is None for keyword in node.keywords):
            raise self.refuse(node, why="'**' in a call")
        keywords = [(str(keyword.arg), self.compile(keyword.value)) for keyword in node.keywords]

        def code(frame: Frame) -> Any:
            frame.step()
            values = {name: value(frame) for name, value in keywords}
            return frame.charge(function(frame)(*arguments(frame), **values))

        return code

    def callee(self, node: ast.expr) -> Code:
        if isinstance(node, ast.Name):
            function = BUILTINS.get(node.id)
            if not callable(function):
                raise self.refuse(node, why=f"'{node.id}' is no function that expressions may call")
            return lambda _: function
        if isinstance(node, ast.Attribute) and self.module_of(node) is None:
            if node.attr.startswith("_") or not any(node.attr in names for names in READERS.values()):
                raise self.refuse(node)
            value, name = self.compile(node.value), node.attr
            return lambda frame: method(value(frame), name)
        return self.compile(node)

    def module_of(self, node: ast.Attribute) -> str | None:
        name = node.value.id if isinstance(node.value, ast.Name) else None
        return name if name in self.modules and name in MODULES else None

    def _attribute(self, node: ast.Attribute) -> Code:
        module = self.module_of(node)
        if module is None or node.attr not in MODULES[module]:
            raise self.refuse(node, why="a value's attributes are not for expressions")
        value = MODULES[module][node.attr]
        return lambda _: value


def _tree(text: str, imports: Sequence[str]) -> ast.expr:
    if len(text) > _MAX_TEXT:
        raise TrustError("an expression is too long", why=f"{len(text)} characters; at most {_MAX_TEXT} are read")
    for name in imports:
        if name not in MODULES:
            raise TrustError(f"an expression may not import '{name}'", hint=f"allowed are {', '.join(MODULES)}")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        column = getattr(error, "offset", None) or 1
        pointer = f"{text}\n{' ' * (column - 1)}^" if "\n" not in text else text
        raise DataError(f"an expression does not parse\n{pointer}", why=getattr(error, "msg", str(error))) from None


@lru_cache(maxsize=2048)
def _compiled(text: str, imports: tuple[str, ...]) -> Code:
    try:
        return _Compiler(text, imports).compile(_tree(text, imports))
    except RecursionError:
        raise TrustError("an expression is nested too deeply") from None


def compile_expression(text: str, imports: Sequence[str] = ()) -> Callable[[Mapping[str, Any]], Any]:
    """Return a function from a row to the value of an expression over its fields.

    Args:
        text: The expression.
        imports: Modules it uses, of ``re``, ``json``, ``math`` and ``itertools``.

    Raises:
        DataError: The expression does not parse.
        TrustError: It uses what is not allowed.
    """
    code = _compiled(text, tuple(imports))
    return lambda row: code(Frame(row))


def compile_predicate(text: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return a function from a row to whether ``lambda row: expression`` holds for it.

    Raises:
        DataError: The text is not a lambda with one parameter.
        TrustError: It uses what is not allowed.
    """
    tree = _tree(text, ())
    if not isinstance(tree, ast.Lambda) or len(tree.args.args) != 1:
        raise DataError(f"'{text}' is not a function of a row", hint="write it as in: lambda x: x['lang'] == 'en'")
    code = _compiled(text, ())
    return lambda row: bool(code(Frame({}))(row))
