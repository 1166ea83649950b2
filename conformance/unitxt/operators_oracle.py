"""Runs inside an environment with Unitxt: applies operators and field paths to data, and answers with the result.

Reads cases as JSON lines: ``{"kind": "operator", "operator": {…}, "streams": {name: rows}}``,
``{"kind": "serializer", "operator": {…}, "value": …}``, ``{"kind": "get" | "set" | "delete", "row": …, "path": …}``,
``{"kind": "type", "type": …, "value": …}``. Answers ``{"value": text}`` or ``{"error": name}``.
"""

import json
import os
import re
import sys
import warnings

warnings.simplefilter("ignore")
os.environ["UNITXT_ALLOW_UNVERIFIED_CODE"] = "True"
_NUMBER = re.compile(r"np\.float64\(([^()]*)\)")
"""How a number of numpy shows itself; Proctor's are Python's."""


def main() -> None:
    """Answer every case; an error is an answer as well."""
    from unitxt.logging_utils import get_logger

    get_logger().setLevel("CRITICAL")
    for line in sys.stdin:
        case = json.loads(line)
        try:
            answer = {"value": _NUMBER.sub(r"\1", repr(ANSWERS[case["kind"]](case)))}
        except Exception as error:  # noqa: BLE001 - what Unitxt refuses is part of the comparison
            answer = {"error": f"{type(error).__name__}: {error}"[:200]}
        print(json.dumps(answer), flush=True)


def _operator(case):
    from unitxt.artifact import Artifact
    from unitxt.stream import MultiStream

    operator = Artifact.from_dict(case["operator"])
    streams = MultiStream.from_iterables(case["streams"], copying=True)
    return {name: list(stream) for name, stream in operator(streams).items()}


def _loader(case):
    from unitxt.artifact import Artifact

    return {name: list(stream) for name, stream in Artifact.from_dict(case["operator"])().items()}


def _serializer(case):
    from unitxt.artifact import Artifact

    return Artifact.from_dict(case["operator"]).serialize(case["value"], {})


def _augmentor(case):
    from unitxt.artifact import Artifact

    operator = Artifact.from_dict(case["operator"])
    operator.set_fields(case["fields"])
    return operator.process_instance(case["row"])


def _get(case):
    from unitxt.dict_utils import dict_get

    return dict_get(case["row"], case["path"], not_exist_ok=case["missing_ok"], default="DEFAULT")


def _set(case):
    from unitxt.dict_utils import dict_set

    dict_set(case["row"], case["path"], case["value"], not_exist_ok=case["missing_ok"], set_multiple=case["each"])
    return case["row"]


def _delete(case):
    from unitxt.dict_utils import dict_delete

    dict_delete(case["row"], case["path"], not_exist_ok=case["missing_ok"], remove_empty_ancestors=case["prune"])
    return case["row"]


def _type(case):
    from unitxt.type_utils import isoftype, parse_type_string, to_type_string

    kind = parse_type_string(case["type"])
    return bool(isoftype(case["value"], kind)), to_type_string(kind)


def _card(case):
    from itertools import islice

    from unitxt.artifact import fetch_artifact
    from unitxt.operator import SequentialOperator

    card, _ = fetch_artifact(case["card"])
    card.loader.path = case["path"]
    card.loader.splits = None
    card.loader.data_classification_policy = card.loader.data_classification_policy or ["public"]  # not a local file
    streams = SequentialOperator(steps=[*(card.preprocess_steps or []), card.task])(card.loader())
    keys = ("input_fields", "reference_fields", "metrics", "data_classification_policy")
    made = {}
    for name in sorted(streams):
        made[name] = [{key: row[key] for key in keys} for row in islice(streams[name], case["rows"])]
    return made


def _call(case):
    place = {"__name__": "names"}
    exec(case["setup"], place)  # noqa: S102 - written in name_cases.py
    return eval(case["expression"], place)  # noqa: S307


ANSWERS = {
    "call": _call,
    "card": _card,
    "operator": _operator,
    "loader": _loader,
    "serializer": _serializer,
    "augmentor": _augmentor,
    "get": _get,
    "set": _set,
    "delete": _delete,
    "type": _type,
}

if __name__ == "__main__":
    main()
