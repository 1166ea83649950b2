"""Logs for inspect's viewer: one JSON file for each exam of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from math import isfinite
from typing import Any

from proctor.exchange.lines import json_text, samples_by_exam, scores_of, shares_of, token_usage
from proctor.exchange.observed import share
from proctor.ir.conversation import as_turns, next_messages
from proctor.results.summary import score_rows
from proctor.runs.stored_run import StoredRun

_STOPS = {"stop": "stop", "length": "max_tokens", "tool_calls": "tool_calls", "content_filter": "content_filter"}
"""Why an answer ended, as inspect calls it."""


def files_of(run: StoredRun) -> tuple[dict[str, str], list[str]]:
    """Return the logs of a run by path, and what they do not hold."""
    lines = samples_by_exam(run.path)
    files = {}
    for exam in run.results:
        name = "".join(each if each.isalnum() or each in "-." else "-" for each in exam)
        document = _log(run, exam, lines.get(exam, []))
        stamp = (run.started or "1970-01-01T00:00:00+00:00").replace(":", "-")
        files[f"{stamp}_{name}_{document['eval']['task_id']}.json"] = json.dumps(document, ensure_ascii=False) + "\n"
    left_out = [] if lines or not run.results else ["the run has no samples.jsonl: the logs hold scores alone"]
    return files, left_out


def _log(run: StoredRun, exam: str, lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    started = run.started or "1970-01-01T00:00:00+00:00"
    identity = blake2b(f"{run.path.name}/{exam}/{started}".encode(), digest_size=11).hexdigest()
    decodings = (each["decoding"] for each in lines if isinstance(each.get("decoding"), Mapping))
    decoding: Mapping[str, Any] = next(decodings, {})
    entry = run.results[exam]
    failed = sum(1 for each in lines if each.get("failure"))
    return {
        "version": 2,
        "status": "success",
        "eval": {
            "eval_id": identity,
            "run_id": identity,
            "created": started,
            "task": exam,
            "task_id": identity,
            "task_version": 0,
            "task_attribs": {},
            "task_args": {},
            "dataset": {
                "name": exam,
                "samples": len(lines),
                "sample_ids": [_id(each) for each in lines],
                "shuffled": False,
            },
            "model": run.model,
            "model_generate_config": _config(decoding),
            "model_args": {},
            "config": {"epochs": 1},
            "packages": {str(name): str(each) for name, each in (run.run.get("versions") or {}).items()},
            "metadata": {"written_by": "Proctor", "fingerprint": entry.get("fingerprint") or {}},
        },
        "plan": {"name": "plan", "steps": [], "config": {}},
        "results": {
            "total_samples": int(entry.get("n") or len(lines)),
            "completed_samples": int(entry.get("n") or len(lines)) - failed,
            "scores": list(_scores(run, exam)),
        },
        "stats": {"started_at": started, "completed_at": started, "model_usage": {}},
        "samples": [_sample(run, each, shares_of(entry)) for each in lines],
    }


def _config(decoding: Mapping[str, Any]) -> dict[str, Any]:
    names = ("max_tokens", "temperature", "top_p", "top_k", "seed")
    found = {name: decoding[name] for name in names if decoding.get(name) is not None}
    return {**found, **({"stop_seqs": list(decoding["stop"])} if decoding.get("stop") else {})}


def _scores(run: StoredRun, exam: str) -> Iterator[dict[str, Any]]:
    for row in score_rows({exam: run.results[exam]}, every_score=True):
        if row.value is None or not isfinite(row.value):
            continue
        scale = shares_of(run.results[exam])[row.metric]
        metrics = {row.metric: {"name": row.metric, "value": row.value * scale, "params": {}}}
        for name, bound in (("ci_low", row.low), ("ci_high", row.high)):
            if bound is not None:
                metrics[name] = {"name": name, "value": bound * scale, "params": {}}
        counts = {"scored_samples": row.scored, "unscored_samples": row.failed}
        yield {"name": row.metric, "scorer": row.metric, "params": {}, "metrics": metrics, **counts}


# -- samples ------------------------------------------------------------------------------------------------------


def _id(line: Mapping[str, Any]) -> int:
    return int(line.get("doc_id") or 0) + 1  # inspect counts from 1, and takes 0 for no id


def _sample(run: StoredRun, line: Mapping[str, Any], shares: Mapping[str, float]) -> dict[str, Any]:
    asked, texts = _asked(line), _texts(line)
    references = [str(each) for each in line.get("references") or ()]
    answer = {"role": "assistant", "content": texts[-1] if texts else "", "source": "generate"}
    reasons = line.get("finish_reasons") or []
    found: dict[str, Any] = {
        "id": _id(line),
        "epoch": 1,
        "input": asked,
        "target": references[0] if len(references) == 1 else references,
        "messages": [*asked, answer],
        "output": {
            "model": run.model,
            "choices": [{"message": answer, "stop_reason": _STOPS.get(reasons[-1] if reasons else "", "unknown")}],
            "completion": answer["content"],
            "usage": token_usage(line),
        },
        "scores": dict(_sample_scores(line, shares)),
        "metadata": {"instance": line.get("instance"), "kind": line.get("kind"), "row": line.get("input")},
        "store": {},
        "events": [],
        "model_usage": {},
        "attachments": {},
    }
    if choices := line.get("continuations"):
        found["choices"] = [str(each) for each in choices]
    if failure := line.get("failure") or line.get("scoring_failure"):
        message = str(failure.get("message") if isinstance(failure, Mapping) else failure)
        found["error"] = {"message": message, "traceback": message, "traceback_ansi": message}
    return found


def _asked(line: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the model was told before its last answer, as messages."""
    prompt = line.get("prompt")
    if line.get("kind") == "converse" and isinstance(prompt, list):
        return [_message(each) for each in next_messages(prompt, as_turns(_texts(line)[:-1])) or []]
    if isinstance(prompt, list) and prompt and isinstance(prompt[0], Mapping):
        return [_message(each) for each in prompt]
    parts = prompt if isinstance(prompt, list) else [prompt]
    return [{"role": "user", "content": "\n".join(str(each) for each in parts)}]


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        content = [_part(each) for each in content]
    return {"role": message.get("role"), "content": content if content is not None else ""}


def _part(part: Any) -> Any:
    if isinstance(part, Mapping) and part.get("type") == "image_url":
        return {"type": "image", "image": part["image_url"]["url"], "detail": "auto"}
    return dict(part) if isinstance(part, Mapping) else {"type": "text", "text": str(part)}


def _texts(line: Mapping[str, Any]) -> list[str]:
    output = line.get("output")
    if isinstance(output, list) and output and isinstance(output[0], Mapping):  # likelihoods: what was chosen
        return [json_text(line.get("prediction"))]
    return [str(each) for each in output] if isinstance(output, list) else [] if output is None else [str(output)]


def _sample_scores(line: Mapping[str, Any], shares: Mapping[str, float]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, value in scores_of(line).items():
        if (number := share(value, shares.get(name, 1.0))) is not None:
            extracted = line.get("processed_prediction")
            yield (
                name,
                {
                    "value": value if isinstance(value, bool) else number,
                    "answer": None if extracted is None else json_text(extracted),
                },
            )
