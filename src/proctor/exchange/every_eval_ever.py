"""*Every Eval Ever* 0.3: a file of scores for each exam, and a file of its instances beside it.

Files lie where the collection has them, ``data/<collection>/<developer>/<model>/<uuid>.json``; the same run gives the
same names and the same bytes. Intervals stay intervals. What failed has no score there, and is counted in words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b, sha256
from math import isfinite
from typing import Any, Final, Literal
from uuid import UUID

from proctor.errors import UsageError
from proctor.exchange.lines import base_of, content_of, json_text, samples_by_exam, token_usage
from proctor.ir.conversation import as_turns, next_messages
from proctor.recipes.metric_code import installed_version
from proctor.results.summary import ScoreRow, score_rows
from proctor.runs.stored_run import StoredRun
from proctor.scoring.scores import Unit

SCHEMA: Final = "0.3.0"
_LEVEL: Final = 0.95
"""Of every interval of ours."""
_LIMITS: Final[Mapping[Unit, tuple[float, float, str]]] = {
    "share": (0.0, 1.0, "proportion"),
    "percent": (0.0, 100.0, "percent"),
}
_UNSAFE: Final = re.compile(r"[^\w.-]+")

Relationship = Literal["first_party", "third_party", "collaborative", "other"]


@dataclass(frozen=True, slots=True)
class Source:
    """The organisation that measured, and the source of its data.

    Attributes:
        model_id: ``org/name``.
        organization: Who ran it.
        relationship: What they are to the model.
    """

    model_id: str
    organization: str = "unknown"
    relationship: Relationship = "other"

    @property
    def developer(self) -> str:
        """The part before the slash."""
        return self.model_id.partition("/")[0]


def checked_model_id(given: str | None, run: StoredRun) -> str:
    """Return the model's id as the collection wants it.

    Raises:
        UsageError: It is not ``org/name``.
    """
    found = given or _own_model(run)
    parts = found.split("/")
    if len(parts) < 2 or not all(re.fullmatch(r"[\w.-]*\w", each) for each in parts):  # noqa: PLR2004
        raise UsageError(
            f"'{found}' is not a model id that the format takes"
            if found
            else "the run does not say which model it was",
            hint="--model-id ORG/NAME, as on the hub or ORG as the provider",
        )
    return found


def _own_model(run: StoredRun) -> str:
    args = run.spec.model_args if run.spec else {}
    return str(next((args[key] for key in ("model", "model_name", "pretrained", "path") if args.get(key)), run.model))


# -- files --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Record:
    """The files of one exam.

    Attributes:
        path: Of the scores, below the folder that is written to.
        scores: Its content.
        samples: Lines of the file beside it.
        left_out: Scores without a finite value, and how many instances have none.
    """

    path: str
    scores: dict[str, Any]
    samples: list[dict[str, Any]]
    left_out: tuple[str, ...] = ()

    @property
    def samples_path(self) -> str:
        """Of the instances."""
        return self.path.removesuffix(".json") + "_samples.jsonl"

    def files(self) -> Iterator[tuple[str, str]]:
        """Yield path and content of each file."""
        yield self.path, json.dumps(self.scores, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if self.samples:
            lines = (json.dumps(each, ensure_ascii=False, allow_nan=False) for each in self.samples)
            yield self.samples_path, "".join(f"{line}\n" for line in lines)


def records_of(run: StoredRun, source: Source) -> list[Record]:
    """Return a record for each exam of a run.

    Raises:
        UsageError: The run has no results.
    """
    if not run.results:
        raise UsageError(f"the run {run.path} has no results", why=run.problem or "it did not end")
    lines = samples_by_exam(run.path)
    return [_record(run, source, exam, lines.get(exam, [])) for exam in run.results]


def _record(run: StoredRun, source: Source, exam: str, lines: Sequence[Mapping[str, Any]]) -> Record:
    rows = list(score_rows({exam: run.results[exam]}, every_score=True))
    usable = [row for row in rows if row.value is not None and isfinite(row.value)]
    left_out = [f"{exam}: {row.metric} has no finite value" for row in rows if row not in usable]
    if rows and rows[0].failed:
        left_out.append(f"{exam}: {rows[0].failed} of {rows[0].asked} instances failed; they have no record")
    started = str(datetime.fromisoformat(run.started).timestamp()) if run.started else "0.0"
    identity = f"{exam}/{source.model_id}/{started}"
    samples = [
        each for row, name in _with_names(usable) for each in _instances(lines, exam, row, name, identity, source)
    ]
    scores: dict[str, Any] = {
        "schema_version": SCHEMA,
        "evaluation_id": identity,
        "evaluation_timestamp": run.started or started,
        "retrieved_timestamp": started,
        "source_metadata": {
            "source_name": "Proctor",
            "source_type": "evaluation_run",
            "source_organization_name": source.organization,
            "evaluator_relationship": source.relationship,
        },
        "eval_library": _library(run, exam),
        "model_info": _model(run, source),
        "evaluation_results": [_result(run, exam, row) for row in usable],
    }
    path = _path(exam, source, json.dumps([identity, run.results[exam]], sort_keys=True))
    record = Record(path, scores, samples, tuple(left_out))
    if samples:
        scores["detailed_evaluation_results"] = _samples_file(record)
    return record


def _path(exam: str, source: Source, content: str) -> str:
    """Return where the collection keeps a record: a name of its content in a folder of exam and model."""
    developer, _, model = source.model_id.partition("/")
    digest = blake2b(content.encode(), digest_size=16).digest()
    return f"data/{_portable(exam)}/{developer}/{_portable(model)}/{UUID(bytes=digest, version=4)}.json"


def _samples_file(record: Record) -> dict[str, Any]:
    content = dict(record.files())[record.samples_path]
    return {
        "format": "jsonl",
        "file_path": record.samples_path,
        "hash_algorithm": "sha256",
        "checksum": sha256(content.encode()).hexdigest(),
        "total_rows": len(record.samples),
    }


def _portable(name: str) -> str:
    return _UNSAFE.sub("_", name).strip("._") or "exam"


def _library(run: StoredRun, exam: str) -> dict[str, Any]:
    own = installed_version("proctor") or "unknown"
    versions = run.run.get("versions") or {}
    entry = run.results[exam]
    details = {f"fingerprint.{layer}": str(value) for layer, value in (entry.get("fingerprint") or {}).items() if value}
    details |= {name: str(entry[name]) for name in ("n", "failures", "num_of_instances") if name in entry}
    return {"name": "proctor", "version": str(versions.get("proctor") or own), "additional_details": details}


def _model(run: StoredRun, source: Source) -> dict[str, Any]:
    details = {"deployment_type": "unknown", "model_availability": "unknown", "engine": run.model}
    name = source.model_id.rpartition("/")[2]
    info = {"name": name, "id": source.model_id, "developer": source.developer}
    engine = {"name": run.spec.model if run.spec else run.model}
    return {**info, "inference_engine": engine, "additional_details": details}


def _result(run: StoredRun, exam: str, row: ScoreRow) -> dict[str, Any]:
    entry = run.results[exam]
    better = entry.get("higher_is_better") if row.is_main else None
    metric: dict[str, Any] = {
        "metric_id": row.metric,
        "metric_name": row.metric,
        "lower_is_better": better is False,
        "additional_details": {"is_main": str(row.is_main).lower(), "unit": row.unit},
    }
    if row.unit in _LIMITS:
        low, high, unit = _LIMITS[row.unit]
        metric |= {"metric_unit": unit, "score_type": "continuous", "min_score": low, "max_score": high}
    return {
        "evaluation_result_id": _result_id(exam, row.metric),
        "evaluation_name": exam,
        "source_data": _data(run, exam),
        **({"evaluation_timestamp": run.started} if run.started else {}),
        "metric_config": metric,
        "score_details": {"score": row.value, "uncertainty": _uncertainty(entry, row)},
    }


def _result_id(exam: str, metric: str) -> str:
    return f"{exam}#{metric}"


def _uncertainty(entry: Mapping[str, Any], row: ScoreRow) -> dict[str, Any]:
    found: dict[str, Any] = {"num_samples": row.scored}
    if row.low is not None and row.high is not None:
        bounds = {"lower": row.low, "upper": row.high}
        found["confidence_interval"] = {**bounds, "confidence_level": _LEVEL}
    bare, _, grading = row.metric.partition(",")
    error = entry.get(f"{bare}_stderr,{grading}" if grading else f"{bare}_stderr")
    if isinstance(error, int | float) and isfinite(error):
        found["standard_error"] = {"value": error}
    return found


def _data(run: StoredRun, exam: str) -> dict[str, Any]:
    """Return where the rows come from, as far as ``run.yaml`` says it."""
    source = run.spec.exams.get(exam) if run.spec else None
    task = source.get("task") if isinstance(source, Mapping) else None
    path = None
    if isinstance(task, Mapping):
        path = task.get("dataset") or task.get("dataset_path")
    if isinstance(path, str) and re.fullmatch(r"[\w.-]+/[\w.-]+", path) and isinstance(task, Mapping):
        split = task.get("split") or task.get("test_split")
        found = {"dataset_name": exam, "source_type": "hf_dataset", "hf_repo": path}
        return {**found, **({"hf_split": split} if isinstance(split, str) else {})}
    return {"dataset_name": exam, "source_type": "other"}


# -- instances ----------------------------------------------------------------------------------------------------


def _with_names(rows: Sequence[ScoreRow]) -> list[tuple[ScoreRow, str]]:
    """Return each score with the name that instances have it by, unless another score goes by that."""
    names = {row.metric for row in rows}
    return [(row, row.metric if base_of(row.metric) in names else base_of(row.metric)) for row in rows]


def _instances(
    lines: Sequence[Mapping[str, Any]], exam: str, row: ScoreRow, name: str, identity: str, source: Source
) -> Iterator[dict[str, Any]]:
    top = _LIMITS[row.unit][1] if row.unit in _LIMITS else 1.0
    for line in lines:
        scores = line.get("scores") or {}
        score = scores.get(row.metric, scores.get(name))
        if not isinstance(score, bool | int | float) or not isfinite(score):
            continue
        if isinstance(score, bool):
            score = top * score
        raw = json.dumps(line.get("input"), ensure_ascii=False, sort_keys=True)
        references = [str(each) for each in line.get("references") or ()]
        yield {
            "schema_version": SCHEMA,
            "evaluation_id": identity,
            "model_id": source.model_id,
            "evaluation_name": exam,
            "evaluation_result_id": _result_id(exam, row.metric),
            "sample_id": str(line.get("doc_id")),
            "sample_hash": sha256((raw + "".join(references)).encode()).hexdigest(),
            **_interaction(line, raw, references),
            "evaluation": {"score": float(score), "is_correct": score >= top},
            "token_usage": token_usage(line),
            "metadata": {"instance": str(line.get("instance") or ""), "kind": str(line.get("kind"))},
        }


def _interaction(line: Mapping[str, Any], raw: str, references: list[str]) -> dict[str, Any]:
    given: dict[str, Any] = {"raw": raw, "reference": references}
    if choices := line.get("continuations"):
        given["choices"] = [str(each) for each in choices]
    texts = _texts(line)
    if line.get("kind") == "converse" and isinstance(line.get("prompt"), list):
        messages = _spoken(line["prompt"], texts)
        found = {"interaction_type": "multi_turn", "input": given, "messages": messages}
        source, place = f"messages[{len(messages) - 1}].content", len(messages) - 1
    else:
        given["formatted"] = json_text(line.get("prompt"))  # messages stay messages
        found = {"interaction_type": "single_turn", "input": given, "output": {"raw": texts}}
        source, place = "output.raw", 0
    attribution = {
        "turn_idx": place,
        "source": source,
        "extracted_value": json_text(line.get("processed_prediction")),
        "extraction_method": "custom",
        "is_terminal": True,
    }
    return {**found, "answer_attribution": [attribution]}


def _texts(line: Mapping[str, Any]) -> list[str]:
    """Return what the model wrote; of likelihoods, what was chosen."""
    output = line.get("output")
    if isinstance(output, str):
        return [output]
    if isinstance(output, list) and all(isinstance(each, str) for each in output):
        return list(output)
    return [json_text(line.get("prediction"))]


def _spoken(turns: Sequence[Any], texts: Sequence[str]) -> list[dict[str, Any]]:
    last = (
        (next_messages(turns, as_turns(texts[:-1])) or []) + [{"role": "assistant", "content": texts[-1]}]
        if texts
        else []
    )
    return [{"turn_idx": i, "role": str(each["role"]), "content": content_of(each)} for i, each in enumerate(last)]
