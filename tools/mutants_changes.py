"""What may stand in a source's place: one change of a module at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "proctor"


class Mutant(NamedTuple):
    """One change of a source: its place, what stands there and what shall."""

    path: Path
    line: int
    start: int
    end: int
    new: str
    function: tuple[str, int] | None
    statement: range

    @property
    def module(self) -> str:
        """The name under which the module is imported."""
        parts = self.path.relative_to(PACKAGE.parent).with_suffix("").parts
        return ".".join(parts).removesuffix(".__init__")

    def source(self) -> str:
        """Return the module's source with the change."""
        old = self.path.read_bytes()
        return (old[: self.start] + self.new.encode() + old[self.end :]).decode()

    def unchanged(self) -> Mutant:
        """Return the change that changes nothing, at the same place."""
        return self._replace(end=self.start, new="")

    def __str__(self) -> str:
        old = " ".join(self.path.read_bytes()[self.start : self.end].decode().split())
        return f"{self.path.relative_to(ROOT)}:{self.line}: {old[:90]}  ->  {self.new}"


COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}


def changed(node: ast.AST) -> Iterator[ast.expr]:  # noqa: C901 - a table
    """Yield what may stand in an expression's place."""
    match node:
        case ast.Compare(left, [operator, *rest], others) if type(operator) in COMPARISONS:
            yield ast.Compare(left, [COMPARISONS[type(operator)](), *rest], others)
        case ast.BinOp(left, operator, right) if type(operator) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(operator)](), right)
        case ast.BoolOp(ast.And(), values):
            yield ast.BoolOp(ast.Or(), values)
        case ast.BoolOp(ast.Or(), values):
            yield ast.BoolOp(ast.And(), values)
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield operand
        case ast.Constant(bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(int() | float() as value):
            yield ast.Constant(value + 1)
            yield ast.Constant(value - 1)
        case ast.IfExp(test, body, other):
            yield ast.IfExp(ast.UnaryOp(ast.Not(), test), body, other)
        case ast.Call(function, given, named):
            for each in (each for each in named if _decides(each, function)):
                yield ast.Call(function, given, [other for other in named if other is not each])


def _decides(named: ast.keyword, function: ast.expr | None = None) -> bool:
    """Return whether a named argument is more than words for people, or a check of what is right anyway.

    Of an error these are where (``path``, ``location``), why and what next: what went wrong, and that it did, is left.
    """
    if named.arg is None or named.arg in {"hint", "why", "help", "strict", "stacklevel"}:
        return False
    is_error = isinstance(function, ast.Name) and function.id.endswith(("Error", "Diagnostic"))
    return not (is_error and named.arg in {"path", "location"})


def instead(node: ast.stmt) -> Iterator[str]:
    """Yield what may stand in a statement's place."""
    match node:
        case ast.Return(value) if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield "return None"
        case ast.Expr(ast.Constant()):  # a docstring, or the body of an overload
            return
        case ast.Expr() | ast.AugAssign() | ast.Raise():
            yield "pass"
        case ast.Assign([ast.Attribute() | ast.Subscript()]):
            yield "pass"
        case ast.Continue():
            yield "break"
        case ast.Break():
            yield "continue"


class Finder(ast.NodeVisitor):
    """Walks a module and notes every mutant; annotations, strings and decorators stay as they are."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.mutants: list[Mutant] = []
        self.function: tuple[str, int] | None = None
        self.statement = range(0)
        source = path.read_bytes()
        self.lines = [0]
        for line in source.splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))
        self.visit(ast.parse(source))

    def note(self, node: ast.expr | ast.stmt, new: str) -> None:
        """Note one mutant."""
        start = self.lines[node.lineno - 1] + node.col_offset
        end = self.lines[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        self.mutants.append(Mutant(self.path, node.lineno, start, end, new, self.function, self.statement))

    def generic_visit(self, node: ast.AST) -> None:
        """Note what may stand in a node's place, then look inside it."""
        if isinstance(node, ast.expr):
            for new in changed(node):
                self.note(node, f"({ast.unparse(ast.fix_missing_locations(new))})")
        elif isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            self.statement = range(node.lineno, max(last, node.lineno) + 1)
            for text in instead(node):
                self.note(node, text)
            if isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.UnaryOp):
                # Comparisons and "not" have mutants of their own that say the same.
                self.note(node.test, f"(not ({ast.unparse(node.test)}))")
        super().generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Look inside a function; the outermost one is what a process replaces."""
        outer = self.function
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            if default is not None:
                self.visit(default)
        if outer is None:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            self.function = (node.name, first)
        for statement in node.body:
            self.visit(statement)
        self.function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Look at what is in a class: whether it is frozen or has slots changes no result."""
        for statement in node.body:
            self.visit(statement)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name that ast looks for

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Look at the value alone."""
        self.statement = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        if node.value is not None:
            self.visit(node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave the words of messages alone."""

    def visit_keyword(self, node: ast.keyword) -> None:
        """Leave alone what is words for people, or checks what is right anyway."""
        if node.arg is None or _decides(node):
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """Leave out what only type checkers read."""
        if not (isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
            self.generic_visit(node)
