"""Finds the template that a task file means: one resolver for every spelling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.dialects.lm_eval.template import (
    BoxedAnswerTemplate,
    ChainOfThoughtTemplate,
    ClozeTemplate,
    ClozeTemplateConfig,
    CustomTemplate,
    GenerateTemplate,
    LabelList,
    MCQTemplateConfig,
    MMLUTemplate,
    QuestionTemplate,
    StyledTemplate,
    TemplateConfig,
)
from proctor.errors import Diagnostic, Location, TemplateError, TrustError, did_you_mean
from proctor.lazy import Deferred
from proctor.settings import settings
from proctor.templates.styles import ChoiceLabels, choice_formatter

if TYPE_CHECKING:
    from proctor.dialects.lm_eval import functions
else:
    functions = Deferred("proctor.dialects.lm_eval.functions")


ENTRY_POINTS = "proctor.templates"
_TYPE_KEYS = ("template_type", "format", "type")
_FIELD_KEYS = {
    "question": "doc_to_text",
    "answer": "doc_to_target",
    "choices": "doc_to_choice",
    "doc_to_text": "doc_to_text",
    "doc_to_target": "doc_to_target",
    "doc_to_choice": "doc_to_choice",
}

Maker = Callable[..., TemplateConfig]


def _gpqa(**overrides: Any) -> TemplateConfig:
    given: dict[str, Any] = {
        "choice_labels": LabelList(ChoiceLabels(form="({})")),
        "choice_format": "{label} {choice}",
        **overrides,
    }
    return MCQTemplateConfig(**given)


def _numbered(**overrides: Any) -> TemplateConfig:
    return MCQTemplateConfig(**{"choice_labels": LabelList(ChoiceLabels(alphabet="numbers")), **overrides})


def _pure_cloze(**overrides: Any) -> TemplateConfig:
    return ClozeTemplateConfig(**{"show_choices": False, **overrides})


NAMES: dict[str, Maker] = {
    "mmlu": MMLUTemplate,
    "mcq": MCQTemplateConfig,
    "cloze": ClozeTemplate,
    "generate_until": GenerateTemplate,
    "generate": GenerateTemplate,
    "question": QuestionTemplate,
    "cot": ChainOfThoughtTemplate,
    "boxed": BoxedAnswerTemplate,
}
"""Templates by the name that ``template: name``, ``task@name`` and ``--template name`` use."""

TYPES: dict[str, Maker] = {
    "mcq": MCQTemplateConfig,
    "mcq::mmlu": MCQTemplateConfig,
    "mcq::gpqa": _gpqa,
    "mcq::numbered": _numbered,
    "cloze": ClozeTemplateConfig,
    "cloze::options": ClozeTemplateConfig,
    "cloze::pure": _pure_cloze,
    "generate::question": QuestionTemplate,
    "generate::cot": ChainOfThoughtTemplate,
    "generate::boxed": BoxedAnswerTemplate,
}
"""Templates by ``template_type``."""


class TemplateFactory:
    """Makes templates by name and from dictionaries."""

    @staticmethod
    def from_dict(config: Mapping[str, Any]) -> TemplateConfig:
        """Return the template that a dictionary describes; ``template_type`` defaults to ``mcq``.

        Raises:
            TemplateError: No such type, or a field that the type does not have.
        """
        return _of_dict(config)

    create_mmlu_style = staticmethod(MCQTemplateConfig)  # ``mcq::mmlu``: ``A. …``, suffix ``Answer:``
    create_gpqa_style = staticmethod(_gpqa)  # ``mcq::gpqa``: ``(A) …``
    create_numbered_style = staticmethod(_numbered)  # ``mcq::numbered``: ``1. …``
    create_cloze_with_options = staticmethod(ClozeTemplateConfig)  # ``cloze::options``: a blank, and the options below
    create_pure_cloze = staticmethod(_pure_cloze)  # ``cloze::pure``: a blank, and no options

    @staticmethod
    def convert(template: TemplateConfig, template_type: str) -> TemplateConfig:
        """Return a template as ``mcq`` or ``cloze``, keeping what both have.

        Raises:
            TemplateError: The template is neither.
        """
        method = getattr(template, {"mcq": "to_mcq", "cloze": "to_cloze"}.get(template_type, ""), None)
        if method is None:
            raise TemplateError(
                f"{type(template).__name__} cannot become '{template_type}'",
                why="multiple choice and cloze convert into each other",
            )
        return method()  # type: ignore[no-any-return]

    convert_mcq_to_cloze = staticmethod(partial(convert, template_type="cloze"))
    convert_cloze_to_mcq = staticmethod(partial(convert, template_type="mcq"))


def template_choices(template: object) -> dict[str, Any]:
    """Return the templates that ``template:`` offers, by name, the default first; each as its own specification.

    A string and a dictionary with a type are one template; a dictionary keyed by template names is several.
    """
    if isinstance(template, str):
        return {template: template}
    if isinstance(template, Mapping):
        if any(key in template for key in _TYPE_KEYS):
            return {str(next(template[key] for key in _TYPE_KEYS if key in template)): template}
        if template and all(isinstance(value, Mapping | type(None)) for value in template.values()):
            return {str(name): (name, dict(fields or {})) for name, fields in template.items()}
        return {"mcq": template}
    if isinstance(template, list):
        return {name: spec for each in template for name, spec in template_choices(each).items()}
    if isinstance(template, TemplateConfig):
        return {getattr(template, "template_type", "custom"): template}
    raise TemplateError(f"template is {template!r}", hint="write a name, or a mapping of names to fields")


def _of_dict(config: Mapping[str, Any], file: str = "") -> TemplateConfig:
    given = dict(config)
    if "template_type" in given or not any(key in given for key in _TYPE_KEYS):
        return _make(str(given.pop("template_type", "mcq")), {**NAMES, **TYPES}, given, file)
    key = next(key for key in _TYPE_KEYS if key in given)
    return _make(str(given.pop(key)), {**TYPES, **NAMES}, given, file)


def resolve_template(
    template: object, chosen: str | None = None, file: str = ""
) -> tuple[TemplateConfig, dict[str, Any]]:
    """Return a template and the ``doc_to_*`` fields that its specification sets.

    Args:
        template: What ``template:`` says; ``None`` where a task has none and one is chosen by name.
        chosen: The name behind ``@`` or ``--template``: one of the task's own, or any there is.
        file: The task file; modules of ``module:Class`` are looked for beside it.

    Raises:
        TemplateError: The name means no template.
        TrustError: The template is a class in somebody's module, and code is not trusted.
    """
    offered = template_choices(template) if template is not None else {}
    if chosen is None:
        name, spec = next(iter(offered.items()))
    else:
        name, spec = chosen, offered.get(chosen, chosen)
    if isinstance(spec, TemplateConfig):
        return spec, {}
    if isinstance(spec, str):
        return _make(spec, {**TYPES, **NAMES}, {}, file), {}
    if isinstance(spec, tuple):
        given, places = _split_fields(spec[1])
        return _make(str(name), {**TYPES, **NAMES}, given, file), places
    given, places = _split_fields(spec)
    return _of_dict(given, file), places


def default_places(template: object, chosen: str | None) -> dict[str, Any]:
    """Return the ``doc_to_*`` fields that a task's default template sets, where another template is chosen instead.

    A task that says where its question is only inside ``template:`` says it for every template.
    """
    offered = template_choices(template) if template is not None else {}
    if chosen is None or chosen in offered or not offered:
        return {}
    first = next(iter(offered.values()))
    spec = first[1] if isinstance(first, tuple) else first
    return _split_fields(spec)[1] if isinstance(spec, Mapping) else {}


def _split_fields(spec: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    given = {key: value for key, value in spec.items() if key not in _FIELD_KEYS}
    places = {_FIELD_KEYS[key]: _column(value) for key, value in spec.items() if key in _FIELD_KEYS}
    return given, places


def _column(value: Any) -> Any:
    """Return a field specification; ``{question}`` in YAML is a mapping with one empty key, and means the column."""
    if isinstance(value, Mapping) and len(value) == 1 and next(iter(value.values())) is None:
        return str(next(iter(value)))
    return value


def _make(name: str, table: Mapping[str, Maker], given: dict[str, Any], file: str = "") -> TemplateConfig:
    maker = table.get(name) or table.get(name.lower())
    if maker is None:
        return _custom(name, given, table, file)
    known = _fields_of(maker)
    problems = [
        Diagnostic(
            f"the template '{name}' has no field '{key}'",
            why=f"its fields are {', '.join(known)}",
            hint=did_you_mean(key, known),
        )
        for key in given
        if key not in known
    ]
    fitting = {}
    for key, value in given.items():
        if key in known and not (value is None and known[key].startswith("list")):
            fitting[key], problem = _fitted(value, known[key])
            if problem:
                problems.append(Diagnostic(f"'{key}' of the template '{name}' is {value!r}", why=problem))
    if not problems:
        return _checked(maker(**fitting))
    broken = {each.what.partition("'")[2].partition("'")[0] for each in problems}
    try:
        _checked(maker(**{key: value for key, value in fitting.items() if key not in broken}))
    except TemplateError as error:
        problems += error.diagnostics
    raise TemplateError(problems)


def _checked(made: TemplateConfig) -> TemplateConfig:
    """Return a template whose choice format can be used, and whose labels tell choices apart."""
    labels = getattr(made, "choice_labels", None)
    twice = [] if isinstance(labels, LabelList) else [each for each, n in Counter(labels or ()).items() if n > 1]
    if twice:
        raise TemplateError(
            f"two choices have the label '{twice[0]}'",
            why="what a model chooses could not be told",
            hint="choice_labels: [A, B, C, D]",
        )
    if isinstance(made, StyledTemplate):
        choice_formatter(made.style.choice_format)
    return made


def _fitted(value: Any, kind: str) -> tuple[Any, str]:
    """Return a value as a field takes it, and what is wrong with it; an empty text field may be left empty in YAML."""
    if kind.startswith("str"):
        value = "" if value is None and kind == "str" else value
        return value, "" if isinstance(value, str) or value is None else "it has to be text"
    if kind == "bool":
        return value, "" if isinstance(value, bool) else "it has to be true or false"
    if kind == "int":
        return value, "" if isinstance(value, int) and not isinstance(value, bool) else "it has to be a whole number"
    if value is None and "None" in kind:
        return value, ""
    if not isinstance(value, list | tuple) or any(isinstance(each, list | dict | None) for each in value):
        return value, "it has to be a list of texts"
    return (value if isinstance(value, LabelList) else [str(each) for each in value]), ""


def _fields_of(maker: Maker) -> dict[str, str]:
    """Return the fields of what a maker makes, each with its type as it is written."""
    kind: Any = {_gpqa: MCQTemplateConfig, _numbered: MCQTemplateConfig, _pure_cloze: ClozeTemplateConfig}.get(
        maker, maker
    )
    return {each.name: str(each.type) for each in fields(kind)} if is_dataclass(kind) else {}


def _custom(name: str, given: dict[str, Any], table: Mapping[str, Maker], file: str) -> TemplateConfig:
    for entry in entry_points(group=ENTRY_POINTS):
        if entry.name == name:
            return _adapted(name, entry.load(), given)
    module, colon, class_name = name.partition(":")
    if not colon or name.count(":") != 1 or not module:
        raise TemplateError(
            f"there is no template '{name}'",
            why=f"there are {', '.join(dict.fromkeys([*NAMES, *TYPES]))}",
            hint=did_you_mean(name, table) or "a template of your own is named module:Class",
        )
    if not settings.trust_code:
        raise TrustError(
            f"the template '{name}' is Python code",
            why=f"using it imports the module '{module}' and calls its class '{class_name}'",
            hint="if you trust it, add --trust-code",
        )
    try:
        kind = functions.resolve_function(
            FunctionReference(f"{module}.{class_name}", Location(file)), f"the template '{name}'"
        )
    except functions.TaskCodeError as error:
        (problem,) = error.diagnostics
        raise TemplateError(
            f"the template '{name}' cannot be loaded",
            why=problem.what + (f" ({problem.why})" if problem.why else ""),
            hint=problem.hint or f"{module}.py is looked for beside the task file, then where Python finds modules",
        ) from None
    return _adapted(name, kind, given)


def _adapted(name: str, kind: Any, given: dict[str, Any]) -> TemplateConfig:
    try:
        made = kind(**given)
    except TypeError as error:
        raise TemplateError(f"the template '{name}' cannot be made", why=str(error)) from None
    if isinstance(made, TemplateConfig):
        return made
    if missing := [each for each in _METHODS if not callable(getattr(made, each, None))]:
        raise TemplateError(
            f"the template '{name}' has no {' and no '.join(missing)}", why=f"a template has {', '.join(_METHODS)}"
        )
    return CustomTemplate(made)


_METHODS = ("format_prompt", "format_choices", "format_target")
