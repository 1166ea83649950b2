"""lm-eval's ``samples_*.jsonl``, with the ``results_*.json`` that lies beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from proctor.exchange.observed import Observed, ObservedExam, messages_in, prompt_text, scores_of
from proctor.exchange.shapes import LmEvalLine, check_lines
from proctor.foreign_text import parse_json
from proctor.recipes.fingerprint import instance_digest
from proctor.safe_files import read_bytes

_MOST_BYTES: Final = 256 << 20
_NAME: Final = re.compile(r"samples_(.+?)_\d{4}-\d\d-\d\dT[\d.-]+")


def read(path: Path, content: Any) -> list[ObservedExam] | None:
    """Return the task of a file: of several filters, an exam for each, ``task`` for the first and ``task,filter``."""
    if not _is_lines(content) or not {"doc_id", "resps"} <= set(content[0]):
        return None
    check_lines(content, LmEvalLine, "a file of lm-eval's samples", path)
    match = _NAME.match(path.name)
    name = match.group(1) if match else path.stem.removeprefix("samples_")
    reported = _reported(path, name)
    filters = list(dict.fromkeys(str(line.get("filter", "none")) for line in content))
    found = []
    for number, each in enumerate(filters):
        lines = [line for line in content if str(line.get("filter", "none")) == each]
        lines.sort(key=lambda line: line["doc_id"] if isinstance(line["doc_id"], int) else 0)
        metrics = _metrics(lines)
        score = next((reported[key] for metric in metrics if (key := f"{metric},{each}") in reported), None)
        exam = ObservedExam(
            name if not number else f"{name},{each}",
            "lm-eval",
            [_observed(place, line, metrics) for place, line in enumerate(lines)],
            metrics[0] if metrics else "",
            score,
        )
        found.append(exam)
    return found


def _is_lines(content: Any) -> bool:
    return isinstance(content, list) and bool(content) and isinstance(content[0], Mapping)


def _metrics(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    named = lines[0].get("metrics")
    if isinstance(named, list):
        return [str(each) for each in named]
    own = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "doc_hash", "prompt_hash"}
    return [key for key, value in lines[0].items() if key not in own and isinstance(value, int | float)]


def _reported(path: Path, name: str) -> Mapping[str, float]:
    """Return the scores of the newest results beside a file of samples."""
    for file in sorted(path.parent.glob("results_*.json"), reverse=True):
        try:
            document = parse_json(read_bytes(file, _MOST_BYTES).decode("utf-8", "replace"))
        except (OSError, ValueError):
            continue
        results = document.get("results") if isinstance(document, Mapping) else None
        entry = results.get(name) if isinstance(results, Mapping) else None
        if isinstance(entry, Mapping):
            return {key: value for key, value in entry.items() if isinstance(value, int | float)}
    return {}


def _observed(number: int, line: Mapping[str, Any], metrics: Sequence[str]) -> Observed:
    contexts, continuations, decoding = _arguments(line.get("arguments"))
    doc = line.get("doc")
    filtered = line.get("filtered_resps")
    return Observed(
        number,
        instance_digest(doc) if isinstance(doc, Mapping) else "",
        prompt_text(contexts[0] if all(each == contexts[0] for each in contexts) else contexts, continuations)
        if contexts
        else None,
        tuple(_answers(line.get("resps"))),
        _extracted(filtered) if decoding is not None else None,
        (str(line["target"]),) if line.get("target") is not None else (),
        decoding,
        scores_of({name: line[name] for name in metrics if name in line}),
    )


def _arguments(arguments: Any) -> tuple[list[Any], list[str], Mapping[str, Any] | None]:
    """Return contexts, continuations, and how the model was to write."""
    if isinstance(arguments, Mapping):
        arguments = [list(each.values()) if isinstance(each, Mapping) else each for each in arguments.values()]
    contexts: list[Any] = []
    continuations: list[str] = []
    decoding: Mapping[str, Any] | None = None
    for each in arguments or []:
        parts = each if isinstance(each, list | tuple) else [each]
        if not parts:
            continue
        contexts.append(messages_in(parts[0]))
        if len(parts) > 1 and isinstance(parts[1], str):
            continuations.append(parts[1])
        elif len(parts) > 1 and isinstance(parts[1], Mapping):
            decoding = decoding_of(parts[1])
    return contexts, continuations, decoding


def decoding_of(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return generation arguments of lm-eval's under our names."""
    found = {key: kwargs[key] for key in ("temperature", "top_p", "top_k", "seed") if kwargs.get(key) is not None}
    if kwargs.get("do_sample") is False:
        found["temperature"] = 0.0
    until = kwargs.get("until")
    if until is not None:
        found["stop"] = until if isinstance(until, list) else [until]
    most = next((kwargs[key] for key in ("max_gen_toks", "max_new_tokens", "max_tokens") if kwargs.get(key)), None)
    return found if most is None else {**found, "max_tokens": most}


def _answers(resps: Any) -> list[str | float]:
    """Return texts, or the likelihood of each choice."""
    found: list[str | float] = []
    for each in resps if isinstance(resps, list) else [resps]:
        value = each[0] if isinstance(each, list) and len(each) == 1 else each
        if isinstance(value, list) and len(value) == 2 and _number(value[0]) is not None:  # noqa: PLR2004 - with is_greedy
            found.append(_number(value[0]) or 0.0)
        elif isinstance(value, list):
            found += [str(part) for part in value]
        else:
            found.append(str(value))
    return found


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _extracted(filtered: Any) -> str | None:
    value = filtered[0] if isinstance(filtered, list) and len(filtered) == 1 else filtered
    return value if isinstance(value, str) or value is None else json.dumps(value, ensure_ascii=False)
