"""Operators that compute fields: expressions, format strings, functions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pydantic import Field
from typing_extensions import override

from proctor.artifacts.artifact import Artifact
from proctor.data.fields import Row, getter
from proctor.data.format_strings import compile_format
from proctor.data.operator import InstanceOperator, Step, writing
from proctor.errors import TrustError, ValidationError, did_you_mean
from proctor.safe_python import compile_expression, safe_function
from proctor.settings import settings


class ExpressionMixin(Artifact):
    """An expression over the fields of a row, see :mod:`proctor.safe_python` for what it may do.

    Attributes:
        expression: A Python expression.
        imports_list: Modules that it uses: ``re``, ``json``, ``math``, ``itertools``.
    """

    expression: str
    imports_list: list[str] = Field(default_factory=list)

    @override
    def prepare(self) -> None:
        super().prepare()
        self._compute = compile_expression(self.expression, self.imports_list)

    def compute_expression(self, instance: Row) -> Any:
        """Return the value of the expression for a row."""
        return self._compute(instance)

    def _computing(self) -> Callable[[Row], Any]:
        """Return what computes the value, which no later change to the operator reaches; an override is obeyed."""
        if type(self).compute_expression is not ExpressionMixin.compute_expression:
            return self.compute_expression
        return compile_expression(self.expression, self.imports_list)


class ExecuteExpression(ExpressionMixin, InstanceOperator):
    """Computes a field: ``ExecuteExpression('question + "?"', to_field="question")``."""

    to_field: str

    @override
    def compile(self, stream_name: str | None) -> Step:
        return writing(self.to_field, self._computing())


class FormatText(InstanceOperator):
    """Fills a format string with the fields of a row.

    Attributes:
        to_field: Where to write.
        text: The format string, such as ``"{question} ({year})"``.
    """

    to_field: str
    text: str

    @override
    def compile(self, stream_name: str | None) -> Step:
        return writing(self.to_field, compile_format(self.text, type(self).__name__, "text", "field"))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: safe_function(name)
    for name in (
        *(
            f"str.{each}"
            for each in ("capitalize", "casefold", "lower", "strip", "swapcase", "title", "upper", "split")
        ),
        *("str", "int", "float", "bool", "list", "tuple", "len", "sorted", "sum", "min", "max", "abs", "round"),
        *("json.loads", "json.dumps"),
    )
}


class Apply(InstanceOperator):
    """Calls a function with the values of fields: ``Apply("a", function=str.upper, to_field="b")``.

    In a program any function will do. In files only those of a short list (``str.lower``, ``json.loads``, …) may be
    named; others need ``--trust-code``.

    Args:
        *arguments: Fields to pass by position.
        function: The function, or its name.
        to_field: Where to write the result.
        **named: Fields to pass by name.
    """

    function: Any
    to_field: str
    argument_fields: list[str] = Field(default_factory=list)
    named_fields: dict[str, str] = Field(default_factory=dict)

    def __init__(self, *arguments: str, **named: Any) -> None:
        given = list(named.pop("_argv", ())) + list(arguments)
        named_fields = dict(named.pop("_kwargs", ()))
        fields = {key: named.pop(key) for key in list(named) if key in type(self).model_fields or key.startswith("__")}
        passed = {"argument_fields": given, "named_fields": {**named_fields, **named}}
        fields.update({key: value for key, value in passed.items() if value})
        super().__init__(**fields)

    @override
    def prepare(self) -> None:
        super().prepare()
        self._call = self.function if callable(self.function) else _function(str(self.function))

    @override
    def compile(self, stream_name: str | None) -> Step:
        call, arguments = self._call, [getter(path) for path in self.argument_fields]
        named = {key: getter(path) for key, path in self.named_fields.items()}

        def compute(row: Row) -> Any:
            return call(*[get(row) for get in arguments], **{key: get(row) for key, get in named.items()})

        return writing(self.to_field, compute)

    @override
    def to_dict(self) -> dict[str, Any]:
        data = super().to_dict()
        if callable(self.function):
            data["function"] = _name_of(self.function)
        if arguments := data.pop("argument_fields", None):
            data["_argv"] = tuple(arguments)
        if named := data.pop("named_fields", None):
            data["_kwargs"] = named
        return data


def _name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", function.__name__)
    module = getattr(function, "__module__", None)
    return name if module is None else f"{module}.{name}"


def _function(name: str) -> Callable[..., Any]:
    known = _FUNCTIONS.get(name.removeprefix("builtins."))
    if known is not None:
        return known
    if not settings.trust_code:
        raise TrustError(
            f"the function '{name}' may not be named in a file",
            hint=did_you_mean(name, _FUNCTIONS) or "pass --trust-code to allow any function",
        )
    module, _, attribute = name.rpartition(".")
    try:
        function = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValidationError(f"there is no function '{name}'", why=str(error)) from None
    if not callable(function):
        raise ValidationError(f"'{name}' is not a function")
    found: Callable[..., Any] = function
    return found
