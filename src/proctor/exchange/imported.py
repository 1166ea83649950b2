"""A record of *Every Eval Ever* as a run folder: what was exported and is imported again is equal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from proctor.errors import DataError, Location, UsageError, reason_of
from proctor.exchange.lines import json_lines
from proctor.exchange.observed import messages_in
from proctor.exchange.readers.every_eval_ever import KIND
from proctor.exchange.shapes import Record, RecordLine, check, check_lines
from proctor.foreign_text import parse_json
from proctor.jsonable import to_document, to_line
from proctor.running.spec import SCHEMA_VERSION, RunSpec
from proctor.safe_files import read_bytes, write_bytes, write_text

_MOST_BYTES: Final = 64 << 20
_UNITS: Final = {"proportion": "share", "percent": "percent"}
_SCHEMA: Final = ("0.2", "0.3")
"""Beginnings of the schema versions that are read."""


def import_record(file: Path, folder: Path) -> list[str]:
    """Write a run folder of a record and of its instances, and return the names of its exams.

    Raises:
        UsageError: The folder is not empty, or the file is of another kind.
        DataError: The file cannot be read.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"the folder {folder} is not empty", hint="name a new folder with --output")
    record = _record(file)
    beside = file.with_name(f"{file.stem}_samples.jsonl")
    lines = list(json_lines(beside)) if beside.is_file() else []
    check_lines(lines, RecordLine, KIND, beside)
    results = {name: _entry(found) for name, found in _by_exam(record["evaluation_results"]).items()}
    folder.mkdir(parents=True, exist_ok=True)
    spec = RunSpec(model=_model(record), tasks=tuple(results), version=_version(record))
    write_text(folder / "run.yaml", spec.to_yaml())
    if lines:
        write_bytes(folder / "samples.jsonl", b"".join(to_line(each) + b"\n" for each in _samples(record, lines)))
    document = {"schema_version": SCHEMA_VERSION, "results": results, "run": _run(record)}
    write_bytes(folder / "results.json", to_document(document))
    return list(results)


def _record(file: Path) -> dict[str, Any]:
    try:
        found = parse_json(read_bytes(file, _MOST_BYTES).decode("utf-8"))
    except (OSError, ValueError) as error:
        raise DataError("the record cannot be read", location=Location(str(file)), why=reason_of(error)) from None
    if not isinstance(found, dict) or not isinstance(found.get("evaluation_results"), list):
        raise UsageError(f"{file} is not a record of Every Eval Ever", why="it has no evaluation_results")
    if not str(found.get("schema_version")).startswith(_SCHEMA):
        raise UsageError(f"{file} has the schema {found.get('schema_version')}", why="0.2 and 0.3 are read")
    check(found, Record, KIND, file)
    return found


def _model(record: Mapping[str, Any]) -> str:
    return str((record.get("model_info") or {}).get("id") or "unknown")


def _version(record: Mapping[str, Any]) -> str:
    library = record.get("eval_library") or {}
    return f"{library.get('name', '?')} {library.get('version', '')}".strip()


def _run(record: Mapping[str, Any]) -> dict[str, Any]:
    started = record.get("evaluation_timestamp")
    found: dict[str, Any] = {"engine": {"label": _model(record), "identity": ""}}
    return {**found, "started": started} if isinstance(started, str) else found


def _by_exam(results: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for each in results:
        found.setdefault(str(each.get("evaluation_name")), []).append(each)
    return found


def _name(result: Mapping[str, Any]) -> str:
    config = result.get("metric_config") or {}
    return str(config.get("metric_id") or config.get("metric_name") or "score")


def _details(result: Mapping[str, Any]) -> Mapping[str, Any]:
    return (result.get("metric_config") or {}).get("additional_details") or {}


def _entry(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the results of one exam as ``results.json`` has them."""
    main = next((each for each in results if _details(each).get("is_main") == "true"), results[0])
    entry: dict[str, Any] = {}
    units = {_name(each): _unit(each) for each in results}
    for each in results:
        entry |= _flat(_name(each), each)
    found = _flat("score", main)
    uncertainty = main["score_details"].get("uncertainty") or {}
    count = uncertainty.get("num_samples") or 0
    others = {name: unit for name, unit in units.items() if unit != units[_name(main)]}
    return {
        **entry,
        **{key: value for key, value in found.items() if not key.endswith("stderr")},
        "score_name": _name(main),
        "unit": units[_name(main)],
        **({"units": others} if others else {}),
        "higher_is_better": not (main.get("metric_config") or {}).get("lower_is_better"),
        "n": count,
        "num_of_instances": count,
        "failures": 0,
    }


def _unit(result: Mapping[str, Any]) -> str:
    unit = (result.get("metric_config") or {}).get("metric_unit")
    return _UNITS.get(str(unit), str(_details(result).get("unit") or "raw"))


def _flat(name: str, result: Mapping[str, Any]) -> dict[str, float]:
    details = result["score_details"]
    found = {name: float(details["score"])}
    uncertainty = details.get("uncertainty") or {}
    interval = uncertainty.get("confidence_interval") or {}
    if "lower" in interval and "upper" in interval:
        found |= {f"{name}_ci_low": float(interval["lower"]), f"{name}_ci_high": float(interval["upper"])}
    error = (uncertainty.get("standard_error") or {}).get("value")
    bare, comma, grading = name.partition(",")
    return found if error is None else {**found, f"{bare}_stderr{comma}{grading}": float(error)}


# -- instances ----------------------------------------------------------------------------------------------------


def _samples(record: Mapping[str, Any], lines: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a line for each instance, with all its scores."""
    names = {each.get("evaluation_result_id"): _name(each) for each in record["evaluation_results"]}
    mains = {name: _entry(found)["score_name"] for name, found in _by_exam(record["evaluation_results"]).items()}
    made: dict[tuple[str, str], dict[str, Any]] = {}
    for line in lines:
        exam = str(line.get("evaluation_name"))
        metric = names.get(line.get("evaluation_result_id")) or mains.get(exam, "score")
        known = made.setdefault((exam, str(line.get("sample_id"))), _sample(len(made), exam, line))
        score = float(line["evaluation"]["score"])
        known["scores"][metric] = score
        if metric == mains.get(exam):
            known["scores"] |= {"score": score, "score_name": metric}
    yield from made.values()


def _sample(number: int, exam: str, line: Mapping[str, Any]) -> dict[str, Any]:
    given, about = line.get("input") or {}, line.get("metadata") or {}
    texts = (line.get("output") or {}).get("raw") or []
    messages = [{"role": each.get("role"), "content": each.get("content")} for each in line.get("messages") or ()]
    usage = line.get("token_usage") or {}
    sample_id = str(line.get("sample_id"))
    attribution = line.get("answer_attribution") or [{}]
    return {
        "exam": exam,
        "doc_id": int(sample_id) if sample_id.isdigit() else number,
        "instance": str(about.get("instance") or ""),
        "input": _row(given.get("raw")),
        "kind": str(about.get("kind") or ("converse" if messages else "generate")),
        "prompt": messages[:-1] if messages else messages_in(given.get("formatted", given.get("raw"))),
        "continuations": given.get("choices"),
        "output": texts[0] if len(texts) == 1 else texts or (messages[-1]["content"] if messages else None),
        "references": list(given.get("reference") or ()),
        "usage": {"prompt_tokens": usage.get("input_tokens", 0), "completion_tokens": usage.get("output_tokens", 0)},
        "failure": None,
        "prediction": texts[0] if texts else None,
        "processed_prediction": attribution[-1].get("extracted_value"),
        "scores": {},
    }


def _row(raw: Any) -> Any:
    """Return an instance: what a JSON text says, else the text by itself."""
    try:
        found = json.loads(raw)
    except (TypeError, ValueError, RecursionError):
        return {"input": raw}
    return found if isinstance(found, dict) else {"input": raw}
