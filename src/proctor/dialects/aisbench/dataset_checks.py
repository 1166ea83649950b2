"""Values of a dataset that nothing can use: of a wrong type, classes of another kind, arguments of another type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.signatures import Signature, known_names, project_named, signature_of
from proctor.dialects.aisbench.values import Reference, dotted_name, it_is, location_of, short_name
from proctor.errors import Diagnostic, did_you_mean

_KINDS = ("evaluators", "inferencers", "retrievers", "templates", "models", "postprocessors", "summarizers")
_PROCESSORS = ("pred_postprocessor", "dataset_postprocessor")
_PLAIN = (bool, int, float, str)  # types whose defaults tell what an argument has to be


def dataset_value_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield values of a dataset, its reader and its ``eval_cfg`` that are of a kind that nothing can use.

    Args:
        values: The dataset.
    """
    where = location_of(values)
    for key in ("abbr", "path"):
        if values.get(key) is not None and not isinstance(values[key], str):
            yield Diagnostic(f"'{key}' of a dataset is a text", where, f"$.{key}", it_is(values[key]))
    yield from _type_problems(values.get("type"), values)
    yield from _media_problems(values)
    if (taken := signature_of("datasets", values.get("type"))) is not None:
        yield from _argument_problems(values, taken, "$")
    reader, evaluation = values.get("reader_cfg"), values.get("eval_cfg")
    if isinstance(reader, Mapping):
        yield from _reader_problems(reader)
    if isinstance(evaluation, Mapping):
        yield from _evaluation_problems(evaluation)


def _media_problems(values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield how pictures, films and sounds are to be sent, where it is none of the two ways that upstream has."""
    is_short = short_name(values.get("type", "")).startswith("RefCOCO")
    for kind in ("image", "video", "audio"):
        given, known = values.get(f"{kind}_type"), [f"{kind}_path", f"{kind}_base64"]
        known = ["path", "base64"] if is_short else known
        if isinstance(given, str) and given not in known and signature_of("datasets", values.get("type")) is not None:
            hint = did_you_mean(given, known) or " or ".join(known)
            yield Diagnostic(f"there is no {kind}_type '{given}'", location_of(values), f"$.{kind}_type", hint=hint)


def _type_problems(kind: Any, values: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield a dataset's type that is a list, a number, or a class of upstream's that is not a dataset."""
    where = location_of(values)
    if isinstance(kind, list | tuple | Mapping | bool | int | float):
        yield Diagnostic("the type of a dataset is a class", where, "$.type", it_is(kind), "type=HFDataset")
        return
    if not isinstance(kind, Reference | str) or signature_of("datasets", kind) is not None:
        return
    if found := next((each for each in _KINDS if _is_upstreams(each, kind)), None):
        hint = "type=HFDataset, or another class that loads rows"
        yield Diagnostic(f"'{short_name(kind)}' is not a dataset", where, "$.type", f"it is one of the {found}", hint)


def _is_upstreams(kind: str, named: Any) -> bool:
    project = project_named(named)
    names = known_names(project, kind) if project else known_names("opencompass", kind) | known_names("aisbench", kind)
    return short_name(named) in names and ("." not in dotted_name(named) or bool(project))


def _reader_problems(reader: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where, columns = location_of(reader), reader.get("input_columns")
    if isinstance(columns, list | tuple):
        for place, each in enumerate(columns):
            if not isinstance(each, str) or not each:
                yield Diagnostic("a column is a name", where, f"$.reader_cfg.input_columns[{place}]", it_is(each))
    for key in ("train_split", "test_split"):
        named = reader.get(key)
        if named is not None and (not isinstance(named, str) or not named):
            yield Diagnostic(f"'{key}' is the name of a split", where, f"$.reader_cfg.{key}", it_is(named))


def _evaluation_problems(evaluation: Mapping[str, Any]) -> Iterator[Diagnostic]:
    where = location_of(evaluation)
    if isinstance(judge := evaluation.get("evaluator"), Mapping):
        kind = judge.get("type")
        if not kind or not (isinstance(kind, str | Reference) or callable(kind)):
            hint = "evaluator=dict(type=AccEvaluator)"
            yield Diagnostic("the evaluator has no type", location_of(judge) or where, "$.eval_cfg.evaluator", "", hint)
        yield from _processor_problems(judge, "$.eval_cfg.evaluator")
    elif judge is None and ("evaluator" in evaluation or any(evaluation.get(key) for key in _PROCESSORS)):
        yield Diagnostic(
            "eval_cfg has no evaluator, so that nothing would be scored",
            where,
            "$.eval_cfg",
            f"it has {', '.join(map(str, evaluation))}",
            "evaluator=dict(type=AccEvaluator); without eval_cfg answers are recorded",
        )
    yield from _processor_problems(evaluation, "$.eval_cfg")


def _processor_problems(part: Mapping[str, Any], path: str) -> Iterator[Diagnostic]:
    for key in _PROCESSORS:
        if part.get(key) is not None:
            yield from processor_problems(part[key], f"{path}.{key}", part)


def processor_problems(config: object, path: str, around: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with the shape of a post-processor, and arguments that are of another type than upstream's.

    Args:
        config: What the config says.
        path: Where it says so.
        around: The dictionary that it stands in.
    """
    where, hint = location_of(config) or location_of(around), "dict(type=first_option_postprocess, options='ABCD')"
    if not isinstance(config, Mapping):
        yield Diagnostic("a post-processor is a dictionary", where, path, it_is(config), hint)
    elif not config.get("type"):
        why = f"it has {', '.join(map(str, config)) or 'nothing'}"
        yield Diagnostic("a post-processor has no type", where, path, why, hint)
    elif (taken := signature_of("postprocessors", config.get("type"))) is not None:
        yield from _argument_problems(config, taken, path)


def _argument_problems(config: Mapping[str, Any], taken: Signature, path: str) -> Iterator[Diagnostic]:
    """Yield arguments of another type than what the function has without them; texts are looked for in texts."""
    for key, value in config.items():
        default = taken.defaults.get(key)
        if key == "type" or (value is None and key not in taken.needed):
            continue
        if value is None:
            what = f"{short_name(config['type'])} needs '{key}'"
            yield Diagnostic(what, location_of(config), f"{path}.{key}", "it is None", "fill it in")
        elif key == "options" and not _is_text_or_texts(value):
            yield Diagnostic("'options' are letters", location_of(config), f"{path}.{key}", it_is(value), "'ABCD'")
        elif isinstance(default, _PLAIN) and not _alike(value, default):
            what = f"'{key}' of {short_name(config['type'])} is a {type(default).__name__}"
            yield Diagnostic(what, location_of(config), f"{path}.{key}", it_is(value), f"upstream has {default!r}")


def _is_text_or_texts(value: Any) -> bool:
    return isinstance(value, Sequence) and bool(value) and all(isinstance(each, str) and each for each in value)


def _alike(value: Any, default: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(value, bool) and isinstance(default, bool)
    return isinstance(value, int | float) if isinstance(default, int | float) else isinstance(value, type(default))
