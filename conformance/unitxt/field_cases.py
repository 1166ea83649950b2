"""Cases for every field of every public class, each with a value that is not its default.

What is the same for many classes is made mechanically: the fields that say what an operator reads and writes, the
streams it works on, the classes of data it may see.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.unitxt import field_values
from conformance.unitxt.operator_cases import OPERATOR_CASES

Body = dict[str, Any]
Streams = dict[str, list[dict[str, Any]]]
Made = tuple[Body, Streams]

_TARGET = "written/here"
_ABSENT = "not there"
_WHERE = ("field", "to_field", "field_to_field")
_STREAM_FIELDS: tuple[Body, ...] = (
    {"apply_to_streams": ["train"]},
    {"dont_apply_to_streams": ["train"]},
    {"caching": True},
)


def base_cases() -> dict[str, Made]:
    """Return the first case of each class of operators, by its type."""
    found: dict[str, Made] = {}
    for body, streams in OPERATOR_CASES:
        found.setdefault(body["__type__"], (body, streams))
    return found


def streamed(made: Made) -> Iterator[Made]:
    """Yield a case with each field that says which streams and which data an operator works on."""
    body, streams = made
    rows = next(iter(streams.values()))
    both = streams if len(streams) > 1 else {"train": rows, "test": rows}
    for more in _STREAM_FIELDS:
        yield {**body, **more}, both
    for policy in (["public"], ["public", "other"]):
        told = {name: [{**row, "data_classification_policy": policy} for row in each] for name, each in streams.items()}
        yield {**body, "data_classification_policy": ["public"]}, told
        yield {**body, "data_classification_policy": ["private"]}, told


def addressed(made: Made) -> Iterator[Made]:
    """Yield a case of a field operator with each field that says what it reads and where it writes."""
    body, streams = made
    field = body.get("field")
    if not isinstance(field, str):
        return
    plain = {key: value for key, value in body.items() if key not in _WHERE}
    yield {**plain, "field": field, "to_field": _TARGET}, streams
    yield {**plain, "field_to_field": {field: _TARGET}}, streams
    yield {**plain, "field_to_field": [[field, "x1"], [field, "x2"]]}, streams
    yield {**plain, "field": field, "to_field": "f9", "use_query": True}, streams
    yield {**plain, "field": _ABSENT, "to_field": _TARGET}, streams
    yield {**plain, "field": _ABSENT, "to_field": _TARGET, "not_exist_do_nothing": True}, streams
    value = _value(streams, field)
    yield {**plain, "field": _ABSENT, "to_field": _TARGET, "not_exist_ok": True, "get_default": value}, streams
    yield {**plain, "field": _ABSENT, "to_field": _TARGET, "not_exist_ok": True}, streams
    many = {name: [{**row, "many": [value, value]} for row in rows] for name, rows in streams.items()}
    yield {**plain, "field": "many", "to_field": _TARGET, "process_every_value": True}, many
    yield {**plain, "field": field, "to_field": "many/*", "set_every_value": True}, many
    yield {**plain, "field": "many/*", "to_field": _TARGET}, many
    yield {**plain, "field": field, "to_field": _TARGET, "process_every_value": True}, streams


def _value(streams: Mapping[str, list[dict[str, Any]]], field: str) -> Any:
    value: Any = next(iter(streams.values()))[0]
    for part in field.split("/"):
        value = value.get(part) if isinstance(value, dict) else None
    return value


def cases() -> Iterator[dict[str, Any]]:
    """Yield all cases."""
    for made in base_cases().values():
        for body, streams in (*streamed(made), *addressed(made)):
            yield {"kind": "operator", "operator": body, "streams": streams}
    for body, streams in field_values.cases():
        yield {"kind": "operator", "operator": body, "streams": streams}
    for body in field_values.sources():
        yield {"kind": "loader", "operator": body}
    for body, value in field_values.SERIALIZED:
        yield {"kind": "serializer", "operator": body, "value": value}


# -- differences --------------------------------------------------------------------------------------------------

_OF_TYPE = {
    "extract_field_values": "unitxt/percent-kept",
    "load_from_dictionary": "unitxt/loader-limit-at-once",
    "multiple_source_loader": "unitxt/loader-limit-at-once",
    "yes_no_template": "unitxt/labels-as-list",
    "output_quantizing_template": "unitxt/quantizing-anyway",
    "dialog_template": "unitxt/pairs-as-lists",
    "dialog_pairwise_choice_template": "unitxt/pairs-as-lists",
    "extract_harm_rating_judgement": "unitxt/no-rating",
    **dict.fromkeys(("remove_punctuations", "stance_to_pro_con", "yes_no_to_int"), "unitxt/texts-only"),
}


_FLAT = ("take_by_field", "duplicate_by_sub_lists", "extract_field_values", "extract_most_common_field_values")
"""Operators that write a path as one name in Unitxt."""
_DRAWING = ("shuffle", "feature_grouped_shuffle", "perturb")


def explained(case: Mapping[str, Any], theirs: Mapping[str, str], ours: Mapping[str, str]) -> str:
    """Return the id of why an answer differs on purpose, ``""`` where it should not."""
    body = case.get("operator", {})
    kind, refused = body.get("__type__", ""), "error" in ours
    reasons = {
        "unitxt/policy-of-streams": "PolicyError" in ours.get("error", "") and "value" in theirs,
        "unitxt/writing-nowhere": bool(body.get("set_every_value")) and refused,
        "unitxt/generator-goes-on": bool(body.get("caching")) and kind in _DRAWING,
        "unitxt/path-as-name": kind in _FLAT and any("/" in str(body.get(name)) for name in ("field", "to_field")),
        "unitxt/letters-as-references": kind == "multi_reference_template" and refused,
        "unitxt/any-prediction": kind == "task" and not refused and body.get("prediction_type", "") is None,
        "unitxt/metrics-when-used": kind == "task" and not refused,
    }
    return next((reason for reason, holds in reasons.items() if holds), _OF_TYPE.get(kind, ""))
