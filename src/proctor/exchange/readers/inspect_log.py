"""Logs of inspect: ``.eval`` archives, and their JSON."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from proctor.errors import DataError, Location
from proctor.exchange.observed import DECODING_KEYS, Observed, ObservedExam, prompt_text, scores_of, text_of
from proctor.exchange.shapes import InspectLog, InspectSample, check, check_lines
from proctor.foreign_text import parse_json
from proctor.scoring.answer_checks import SHARES

_MOST_BYTES: Final = 1 << 28
"""Of one sample in an archive, unpacked."""
_MOST_IN_ALL: Final = 4 << 30


def read(path: Path, content: object) -> list[ObservedExam] | None:
    """Return the task of a log."""
    if path.suffix == ".eval":
        header, samples = _archive(path)
    elif isinstance(content, Mapping) and isinstance(content.get("eval"), Mapping) and _has_samples(content):
        header, samples = content, list(content["samples"] or ())
    else:
        return None
    check(header, InspectLog, _KIND, path)
    check_lines(samples, InspectSample, _KIND, path)
    about = header["eval"]
    config = {**dict(about.get("model_generate_config") or {}), **_generated(header)}
    decoding = {"stop" if key == "stop_seqs" else key: value for key, value in config.items() if value is not None}
    known = {key: value for key, value in decoding.items() if key in DECODING_KEYS} or None
    metric, score = _main(header)
    samples.sort(key=lambda each: (_order(each.get("id")), each.get("epoch", 1)))
    instances = [_observed(number, each, metric, known) for number, each in enumerate(samples)]
    return [ObservedExam(str(about.get("task", path.stem)), "inspect", instances, metric, score)]


def _has_samples(log: Mapping[str, Any]) -> bool:
    return "samples" in log and isinstance(log["samples"], list | None)


_KIND: Final = "a log of inspect"


def _generated(header: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the task's own solver says of how the model is to write; it counts before the run's settings."""
    plan = header.get("plan")
    steps = plan.get("steps") if isinstance(plan, Mapping) else None
    found: dict[str, Any] = {}
    for step in steps if isinstance(steps, list) else ():
        params = step.get("params") if isinstance(step, Mapping) and step.get("solver") == "generate" else None
        if isinstance(params, Mapping):
            found |= {str(key): value for key, value in params.items() if value is not None}
    return found


def _order(number: Any) -> tuple[int, str]:
    return (number, "") if isinstance(number, int) else (0, str(number))


def _main(header: Mapping[str, Any]) -> tuple[str, float | None]:
    results = header.get("results")
    scores = results.get("scores") if isinstance(results, Mapping) else None
    for score in scores or ():
        for name, metric in (score.get("metrics") or {}).items():
            value = metric.get("value")
            return str(score.get("name") or name), value if isinstance(value, int | float) else None
    return "", None


def _archive(path: Path) -> tuple[Mapping[str, Any], list[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            header = _member(archive, "header.json" if "header.json" in names else "_journal/start.json", path)
            wanted = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
            if sum(archive.getinfo(name).file_size for name in wanted) > _MOST_IN_ALL:
                raise DataError("the log is too large to be read whole", location=Location(str(path)))
            return header, [_member(archive, name, path) for name in wanted]
    except (zipfile.BadZipFile, NotImplementedError, OSError) as error:
        raise DataError(
            "the log cannot be read", location=Location(str(path)), why=str(error), hint="inspect log convert --to json"
        ) from None


def _member(archive: zipfile.ZipFile, name: str, path: Path) -> Any:
    if archive.getinfo(name).file_size > _MOST_BYTES:
        raise DataError(f"'{name}' in the log is too large", location=Location(str(path)))
    try:
        return parse_json(_unpacked(archive, name).decode("utf-8", "replace"))
    except ValueError as error:
        raise DataError(f"'{name}' in the log is not JSON", location=Location(str(path)), why=str(error)) from None


_ZSTD: Final = 93
"""The method of inspect's archives, which Python's own library learns in 3.14."""


def _unpacked(archive: zipfile.ZipFile, name: str) -> bytes:
    info = archive.getinfo(name)
    if info.compress_type != _ZSTD or archive.fp is None:
        return archive.read(name)
    import pyarrow as pa

    archive.fp.seek(info.header_offset)
    lengths = struct.unpack("<HH", archive.fp.read(30)[26:])  # of the name and the extra field behind the header
    archive.fp.seek(info.header_offset + 30 + sum(lengths))
    packed = archive.fp.read(info.compress_size)
    try:
        found: bytes = pa.decompress(packed, decompressed_size=info.file_size, codec="zstd", asbytes=True)
    except (pa.ArrowException, OSError) as error:
        raise zipfile.BadZipFile(f"{name} is damaged: {error}") from None
    return found


def _observed(number: int, sample: Mapping[str, Any], metric: str, decoding: Mapping[str, Any] | None) -> Observed:
    messages: Sequence[Mapping[str, Any]] = sample.get("messages") or ()
    asked = list(messages)
    while asked and asked[-1].get("role") == "assistant":
        asked.pop()
    scores = sample.get("scores") or {}
    chosen: Mapping[str, Any] = scores.get(metric) or next(iter(scores.values()), {})
    target = sample.get("target")
    about = sample.get("metadata") or {}
    compared = sample.get("choices") or () if about.get("kind") == "choose" else ()  # a log that Proctor wrote
    said = [{"role": each.get("role"), "content": each.get("content")} for each in asked]
    return Observed(
        number,
        str(about.get("instance") or ""),
        prompt_text(said, compared) if asked else None,
        tuple(_completions(sample)),
        text_of(chosen.get("answer")),
        tuple(str(each) for each in (target if isinstance(target, list) else [target])) if target is not None else (),
        decoding,
        dict(_scores(scores)),
        str((sample.get("error") or {}).get("message", "")),
    )


def _completions(sample: Mapping[str, Any]) -> Iterator[str]:
    output = sample.get("output") or {}
    for choice in output.get("choices") or ():
        content = (choice.get("message") or {}).get("content")
        if isinstance(content, list):
            yield "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
        else:
            yield str(content)


def _scores(scores: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, Mapping) else None
        if isinstance(value, str) and value in SHARES:
            yield name, SHARES[value]
        else:
            yield from scores_of({name: value}).items()
