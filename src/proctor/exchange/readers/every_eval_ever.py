"""Records of *Every Eval Ever*: scores, with the instances beside them where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from proctor.exchange.lines import json_lines
from proctor.exchange.observed import PERCENT, Observed, ObservedExam, messages_in, prompt_text, text_of
from proctor.exchange.shapes import Record, RecordLine, check, check_lines

KIND: Final = "a record of Every Eval Ever"


def read(path: Path, content: object) -> list[ObservedExam] | None:
    """Return the exams of a record, each with its main score (the first where none says it is)."""
    if not isinstance(content, Mapping) or not isinstance(content.get("evaluation_results"), list):
        return None
    check(content, Record, KIND, path)
    beside = path.with_name(f"{path.stem}_samples.jsonl")
    lines = list(json_lines(beside)) if beside.is_file() else []
    check_lines(lines, RecordLine, KIND, beside)
    exams: dict[str, list[Mapping[str, Any]]] = {}
    for result in content["evaluation_results"]:
        exams.setdefault(str(result.get("evaluation_name")), []).append(result)
    return [_exam(name, results, lines) for name, results in exams.items()]


def _exam(name: str, results: Sequence[Mapping[str, Any]], lines: Sequence[Mapping[str, Any]]) -> ObservedExam:
    main = next((each for each in results if _says_main(each)), results[0])
    of_exam = [line for line in lines if line.get("evaluation_name") == name]
    instances: dict[str, Observed] = {}
    for result in results:
        scale = PERCENT if result["metric_config"].get("metric_unit") == "percent" else 1.0
        for line in of_exam:
            if line.get("evaluation_result_id") in (None, result.get("evaluation_result_id")):
                _take(instances, line, _metric(result), scale)
    scale = PERCENT if main["metric_config"].get("metric_unit") == "percent" else 1.0
    score = float(main["score_details"]["score"]) * scale
    return ObservedExam(name, "Every Eval Ever", list(instances.values()), _metric(main), score)


def _says_main(result: Mapping[str, Any]) -> bool:
    details = (result.get("metric_config") or {}).get("additional_details") or {}
    return bool(details.get("is_main") == "true")


def _metric(result: Mapping[str, Any]) -> str:
    config = result.get("metric_config") or {}
    return str(config.get("metric_id") or config.get("metric_name") or "score")


def _take(instances: dict[str, Observed], line: Mapping[str, Any], metric: str, scale: float) -> None:
    key = str(line.get("sample_id"))
    score = float(line["evaluation"]["score"]) * scale
    known = instances.get(key)
    if known is None:
        given = line.get("input") or {}
        attribution = line.get("answer_attribution") or [{}]
        instances[key] = Observed(
            len(instances),
            str((line.get("metadata") or {}).get("instance") or ""),
            _prompt(line, given),
            tuple((line.get("output") or {}).get("raw") or ()),
            text_of(attribution[-1].get("extracted_value")),
            tuple(str(each) for each in given.get("reference") or ()),
            None,
            {metric: score},
            str(line.get("error") or ""),
        )
    else:
        instances[key] = Observed(
            known.number, known.digest, known.prompt, known.answer, known.extracted, known.references, known.decoding,
            {**known.scores, metric: score}, known.failure,
        )  # fmt: skip


def _prompt(line: Mapping[str, Any], given: Mapping[str, Any]) -> str | None:
    messages = line.get("messages")
    if messages:
        return prompt_text([{"role": each.get("role"), "content": each.get("content")} for each in messages[:-1]])
    formatted = given.get("formatted")
    return None if formatted is None else prompt_text(messages_in(formatted), given.get("choices") or ())
