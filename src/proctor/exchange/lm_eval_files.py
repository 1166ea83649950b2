"""lm-eval's result files of any run, whatever dialect its exams were written in: made of the run folder.

A run of YAML tasks with ``--output-format lm-eval`` writes more (each filter, the tasks' configs); this is what a run
folder of any exam holds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from proctor.dialects.lm_eval.names import OF_HUNDRED
from proctor.exchange.lines import samples_by_exam, scores_of, shares_of
from proctor.results.summary import score_rows
from proctor.runs.stored_run import StoredRun
from proctor.scoring.flat_scores import DIRECTION


def files_of(run: StoredRun) -> tuple[dict[str, str], list[str]]:
    """Return the files of a run by path, and what they do not hold."""
    lines, left_out = samples_by_exam(run.path), []
    folder = re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.model) or "model"
    stamp = (run.started or "1970-01-01T00:00:00").partition("+")[0].replace(":", "-")
    files = {f"{folder}/results_{stamp}.json": json.dumps(_results(run), indent=2, ensure_ascii=False) + "\n"}
    for exam, found in lines.items():
        name = re.sub(r"[\"<>:/|\\?*\[\]]+", "__", exam)
        entry = run.results.get(exam, {})
        samples = [sample for line in found if _is_answered(line) for sample in _samples(line, entry)]
        text = "".join(json.dumps(sample, ensure_ascii=False) + "\n" for sample in samples)
        files[f"{folder}/samples_{name}_{stamp}.jsonl"] = text
        if any(sample["filtered_resps"] == [] for sample in samples):
            left_out.append(f"{exam}: what filters but that of the main score read; their scores are there")
    if failed := sum(1 for found in lines.values() for line in found if not _is_answered(line)):
        left_out.append(f"{failed} instances failed; the samples leave them out")
    return files, left_out


def _is_answered(line: Mapping[str, Any]) -> bool:
    return not line.get("failure") and line.get("output") is not None


def _results(run: StoredRun) -> dict[str, Any]:
    results: dict[str, dict[str, Any]] = {}
    better: dict[str, dict[str, bool]] = {}
    counts: dict[str, dict[str, int]] = {}
    for row in score_rows(run.results, every_score=True):
        entry = results.setdefault(row.task, {"alias": row.task, "name": row.task, "sample_len": row.scored})
        bare, _, pipeline = row.metric.partition(",")
        known = run.results[row.task]
        error = known.get(f"{bare}_stderr,{pipeline}" if pipeline else f"{bare}_stderr")
        scale = shares_of(known, OF_HUNDRED)[row.metric]
        entry[f"{bare},{pipeline or 'none'}"] = None if row.value is None else row.value * scale
        entry[f"{bare}_stderr,{pipeline or 'none'}"] = error * scale if isinstance(error, int | float) else "N/A"
        counts.setdefault(row.task, {"original": row.asked, "effective": row.scored})
        is_better = known.get(DIRECTION)
        if row.is_main and isinstance(is_better, bool):  # of other scores a run folder does not say it
            better.setdefault(row.task, {})[bare] = is_better
    return {
        "results": results,
        "group_subtasks": {name: list(entry.get("members") or ()) for name, entry in run.results.items()},
        "configs": {name: {"task": name, "metadata": {"written_by": "Proctor"}} for name in results},
        "versions": dict.fromkeys(results, "Proctor"),
        "n-shot": dict.fromkeys(results, None if run.spec is None else run.spec.num_demos),
        "higher_is_better": better,
        "n-samples": counts,
        "config": {"model": run.spec.model if run.spec else run.model, "model_args": {}, "limit": _limit(run)},
        "date": run.started,
        "model_source": run.spec.model if run.spec else run.model,
        "model_name": run.model,
        "model_name_sanitized": re.sub(r"[\"<>:/|\\?*\[\]]+", "__", run.model),
        "total_evaluation_time_seconds": str(run.run.get("seconds") or 0.0),
    }


def _limit(run: StoredRun) -> float | None:
    return None if run.spec is None else run.spec.limit


def _samples(line: Mapping[str, Any], entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield an instance as lm-eval lists it: once for each filter, which the names of scores end with."""
    shares, main = shares_of(entry, OF_HUNDRED), str(entry.get("score_name") or "").partition(",")[2]
    by_filter: dict[str, dict[str, Any]] = {}
    for name, value in scores_of(line).items():
        bare, _, pipeline = name.partition(",")
        by_filter.setdefault(pipeline, {})[bare] = _scaled(value, shares.get(name, 1.0))
    for pipeline, scores in (by_filter or {main: {}}).items():
        yield _sample(line, scores, pipeline, is_main=pipeline == main)


def _sample(line: Mapping[str, Any], scores: Mapping[str, Any], pipeline: str, *, is_main: bool) -> dict[str, Any]:
    document = json.dumps(line.get("input"), indent=2, ensure_ascii=False)
    references = [str(each) for each in line.get("references") or ()]
    target = references[0] if len(references) == 1 else str(references)
    arguments = _arguments(line)
    extracted = line.get("processed_prediction")
    read = extracted if isinstance(extracted, str) else json.dumps(extracted, ensure_ascii=False)
    return {
        "doc_id": line.get("doc_id"),
        "doc": line.get("input"),
        "target": target,
        "arguments": {
            f"gen_args_{number}": {f"arg_{place}": part for place, part in enumerate(parts)}
            for number, parts in enumerate(arguments)
        },
        "resps": _responses(line),
        "filtered_resps": [read] if is_main else [],
        "filter": pipeline or "none",
        "metrics": list(scores),
        "doc_hash": _digest(document),
        "prompt_hash": _digest(str(arguments[0][0]) if arguments else ""),
        "target_hash": _digest(target),
        **scores,
    }


def _scaled(value: Any, scale: float) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value * scale if is_number and scale != 1.0 else value


def _arguments(line: Mapping[str, Any]) -> list[list[Any]]:
    prompt = line.get("prompt")
    is_chat = isinstance(prompt, list) and bool(prompt) and isinstance(prompt[0], Mapping | None)
    contexts = [json.dumps(prompt, ensure_ascii=False)] if is_chat else prompt if isinstance(prompt, list) else [prompt]
    choices = line.get("continuations") or []
    if choices:
        each = contexts if len(contexts) == len(choices) else contexts * len(choices)
        return [[context, choice] for context, choice in zip(each, choices, strict=False)]
    decoding = line.get("decoding")
    decoding = decoding[0] if isinstance(decoding, list) and decoding else decoding or {}
    return [[contexts[0], _kwargs(decoding)]]


def _kwargs(decoding: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: decoding[key] for key in ("temperature", "top_p", "top_k", "seed") if key in decoding}
    found |= {"until": list(decoding.get("stop") or ()), "do_sample": bool(decoding.get("temperature"))}
    return {**found, **({"max_gen_toks": decoding["max_tokens"]} if "max_tokens" in decoding else {})}


def _responses(line: Mapping[str, Any]) -> list[Any]:
    output: Any = line.get("output")
    if isinstance(output, Sequence) and not isinstance(output, str):
        if output and isinstance(output[0], Mapping):
            return [[[str(each["log_likelihood"]), str(each["is_greedy"])]] for each in output]
        return [[str(each) for each in output]]
    return [[output]]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
