"""Runs the real ``ais_bench`` process and Proctor on the same configs against one recording server, and compares.

Usage: ``python -m conformance.aisbench.processes [NAME ...] [--keep FOLDER [--again]]``. Needs an environment with
AISBench (``AISBENCH_PYTHON``). Compared: the bodies of all requests (Proctor asks nobody the same twice), the lines of
all ``predictions/*.jsonl``, the scores, and the summary as CSV and Markdown, to the letter.
Differences that are meant stand in :data:`EXPLAINED`, each with its reason.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

from conformance.aisbench.edits import EDITED
from conformance.aisbench.process_configs import FAILS, RUNS, config, write_rows
from conformance.aisbench.recording_server import RecordingServer, answer_to, varied_answer
from conformance.aisbench.shipped_configs import SETS, shipped_text, write_data

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/env-conf/aisbench/bin/python")  # noqa: S108
_PATIENCE_SECONDS = 3_000  # a process of theirs takes a minute to import, and up to 30 seconds for each dataset

EXPLAINED = {
    "stream": "AISBench says 'stream: false', which is what a server does without it",
    "num_return_sequences": "AISBench leaves it in the body, where no server reads it",
    "seed": "AISBench sends one body several times; here repeats have seeds of their own: the log tells them apart",
    "id": "AISBench numbers Triton's requests at random",
    "prompt_logprobs": "of a request for losses AISBench reads nothing that is written; here one token is asked for",
    "pass@, cons@": "AISBench 3.1 groups the details of runs, run after run, with rows that stand repeated one by one "
    "(icl_base_evaluator.py: group() makes resample_details and does not use them), so that several rows are one",
    "n": "one answer is what a server gives without 'n: 1'",
    "stop": "a text and a list with this text mean the same",
    "pictures": "AISBench writes the pictures of tables anew into files, and sends the names of the files",
    "once": "AISBench sends equal bodies as often as rows have them, Proctor once",
    "uuid, order": "AISBench numbers answers at random, and files them in the order in which they came",
    "logprobs of a prediction": "the response log has them; a line has the losses that are made of them",
    "gold of nothing": "AISBench leaves out right answers that are 0, or empty; here they stand in the line",
    "None in gold": "rows of AISBench have every key that any row has; here missing parts are missing",
    "_failed.jsonl": "AISBench writes the words of its exceptions, colours and all; here it is a failure's message",
    "-judge.jsonl": "what a judge was asked and said is in the response log and in samples.jsonl",
}


def plain(body: dict[str, Any], repeats: bool) -> str:
    """Return a body without what is explained."""
    found = {key: value for key, value in body.items() if key not in ("num_return_sequences", "id")}
    found = {key: value for key, value in found.items() if (key, value) not in (("stream", False), ("n", 1))}
    if repeats:
        found.pop("seed", None)
    if "prompt_logprobs" in found:  # nothing that is written is read
        found = {key: found[key] for key in ("model", "messages", "prompt", "prompt_logprobs") if key in found}
    if isinstance(found.get("stop"), str):
        found["stop"] = [found["stop"]]
    return _without_pictures(json.dumps(found, sort_keys=True))


def _without_pictures(text: str) -> str:
    """Return JSON without the pictures of shipped configs, in files of AISBench's and in the body of Proctor's."""
    return _PICTURE.sub(r'"url": "<picture>"', text)


_PICTURE = re.compile(r'"url": "(?:file:[^"]*OCRBench_v2_images[^"]*|data:image/png;base64,[^"]*A{100}[^"]*)"')


def asked_by_aisbench(text: str, folder: Path, server: RecordingServer) -> list[tuple[str, dict[str, Any]]]:
    """Return what AISBench asks; its results are in the folder ``theirs``."""
    (folder / "config.py").write_text(text, encoding="utf-8")
    driver = str(Path(__file__).with_name("forked_process.py"))
    command = [PYTHON, driver, "config.py", "--debug", "-w", "theirs", "--num-warmups", "0"]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False, env=_data(folder)
    )
    (folder / "theirs.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    return taken(server)


def asked_by_proctor(
    text: str, folder: Path, server: RecordingServer, *options: str
) -> list[tuple[str, dict[str, Any]]]:
    """Return what Proctor asks; its results are in the folder ``ours``."""
    (folder / "config.py").write_text(text, encoding="utf-8")
    for each in ("ours", "cache"):
        shutil.rmtree(folder / each, ignore_errors=True)
    command = [sys.executable, "-m", "proctor", "run", "config.py", "--output", "ours", "--output-format", "aisbench"]
    command += options
    paths = os.pathsep.join((str(_package(folder)), os.environ.get("PYTHONPATH", "")))
    environment = {**_data(folder), "PROCTOR_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": paths}
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False, env=environment
    )
    (folder / "ours.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    return taken(server)


def _data(folder: Path) -> dict[str, str]:
    """Return the environment of both: where shipped configs find their rows."""
    return {**os.environ, "AIS_BENCH_DATASETS_CACHE": str(folder / "data")}


def _package(folder: Path) -> Path:
    """Return a folder with AISBench's package and nothing else: its shipped configs are read from there."""
    place = folder / "package" / "ais_bench"
    if not place.is_symlink():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(next(Path(PYTHON).parents[1].glob("lib/python*/site-packages/ais_bench")))
    return place.parent


def taken(server: RecordingServer) -> list[tuple[str, dict[str, Any]]]:
    """Return what the server was asked since the last time."""
    found = list(server.requests)
    server.requests.clear()
    return found


def their_scores(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return AISBench's scores by model and dataset; of judged datasets by the dataset's own name."""
    found = {}
    for path in folder.glob("theirs/*/results/*/*.json"):
        values = json.loads(path.read_text(encoding="utf-8"))
        numbers = {key: float(value) for key, value in values.items() if isinstance(value, int | float)}
        found[path.parent.name, path.stem.removesuffix("-judge")] = numbers
    return found


def our_scores(folder: Path) -> dict[tuple[str, str], dict[str, float]]:
    """Return Proctor's scores by model and dataset."""
    found = {}
    for path in [*folder.glob("ours/results.json"), *folder.glob("ours/*/results.json")]:
        values = json.loads(path.read_text(encoding="utf-8"))
        model = path.parent.name if path.parent.name != "ours" else ""
        for name, scores in values["results"].items():
            numbers = {key: float(value) for key, value in scores.items() if isinstance(value, int | float)}
            found[model, name] = numbers
    return found


def text_of(name: str, folder: Path, port: int) -> str:
    """Return the text of a config by its name."""
    if name in EDITED:
        return EDITED[name](port)
    return shipped_text(name, port) if name in SETS else config(name, folder, port)


def differences(name: str, folder: Path, *, again: bool = False) -> Iterator[str]:
    """Yield what is different in one config, after running both.

    Args:
        name: Of the config.
        folder: Where both work.
        again: Whether what AISBench did in this folder before is taken as it is.
    """
    write_rows(folder)
    kept = folder / "theirs.json"
    with RecordingServer(varied_answer if name in EDITED else answer_to) as server:
        if name in SETS or name in EDITED:
            write_data(folder / "data")
        text = text_of(name, folder, server.port)
        if not again or not kept.is_file():
            kept.write_text(json.dumps(asked_by_aisbench(text, folder, server)), encoding="utf-8")
        theirs = [(path, body) for path, body in json.loads(kept.read_text(encoding="utf-8"))]
        if name.startswith("edits_"):
            answered = sorted({dataset for _, dataset in predictions(folder, "theirs")})
            text += f"\ndatasets = [each for each in datasets if each['abbr'] in {answered}]\n"
        options = ("--answers", "raw") if name in EDITED else ()  # AISBench grades thoughts, too
        ours = asked_by_proctor(text, folder, server, *options)
    if not ours:
        yield f"{name}: Proctor asked nothing: {(folder / 'ours.log').read_text(encoding='utf-8')[-2000:]}"
        return
    repeats = "num_return_sequences" in text or re.search(r"'n': [2-9]|\[.n.\] = [2-9]", text) is not None
    if len(theirs) == 0:
        yield f"{name}: AISBench asked nothing: its log is theirs.log"
    first = Counter((path, plain(body, repeats)) for path, body in theirs)
    second = Counter((path, plain(body, repeats)) for path, body in ours)
    print(f"{name}: {len(theirs)} requests of AISBench's, {len(first)} of them different; {len(ours)} of Proctor's")
    yield from (f"{name}: only AISBench asks {path} {body[:300]}" for path, body in sorted(set(first) - set(second)))
    yield from (f"{name}: only Proctor asks {path} {body[:300]}" for path, body in sorted(set(second) - set(first)))
    for (path, body), count in sorted(second.items()):
        if count > first.get((path, body), count):
            yield f"{name}: Proctor asks {count} times, AISBench {first[path, body]} times: {path} {body[:300]}"
    yield from _prediction_differences(name, folder)
    yield from _score_differences(name, folder)
    yield from _summary_differences(name, folder)


_RANDOM = ("uuid", "origin_prompt_logprobs", "label_logprobs")


def predictions(folder: Path, whose: str) -> dict[tuple[str, str], list[str]]:
    """Return the lines of predictions by model and dataset, sorted, without what is random."""
    found = {}
    for path in folder.glob(f"{whose}/**/predictions/*/*.jsonl"):
        if path.stem.endswith(("-judge", "-judge-cached", "_failed")):
            continue
        lines = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
        kept = [{key: value for key, value in line.items() if key not in _RANDOM} for line in lines]
        kept = [_with_gold(line) for line in kept]
        found[path.parent.name, path.stem] = sorted(
            _without_pictures(json.dumps(_rounded(line), sort_keys=True)) for line in kept
        )
    return found


def _with_gold(line: dict[str, Any]) -> dict[str, Any]:
    """Return a line with its right answer, where that is something."""
    gold = line.pop("gold", None)
    return {**line, "gold": _without_none(gold)} if gold else line


def _without_none(value: Any) -> Any:
    """Return a nested answer without parts that are ``None``."""
    if isinstance(value, dict):
        return {key: _without_none(each) for key, each in value.items() if each is not None}
    return [_without_none(each) for each in value] if isinstance(value, list) else value


def _rounded(value: Any) -> Any:
    """Return a value with numbers to nine digits: means are summed in another order."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_rounded(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def _prediction_differences(name: str, folder: Path) -> Iterator[str]:
    theirs, ours = predictions(folder, "theirs"), predictions(folder, "ours")
    print(f"{name}: {len(theirs)} files of predictions, {sum(map(len, theirs.values()))} lines compared")
    for place, lines in sorted(theirs.items()):
        own = ours.get(place)
        if own is None:
            yield f"{name}: Proctor wrote no predictions of {'/'.join(place)}"
        elif own != lines:
            wrong = [(a, b) for a, b in zip_longest(lines, own, fillvalue="") if a != b]
            yield f"{name}: {'/'.join(place)}: {len(wrong)} lines differ: {wrong[0][0][:600]} / {wrong[0][1][:600]}"


def _summary_differences(name: str, folder: Path) -> Iterator[str]:
    for ending in ("csv", "md"):
        theirs = next(folder.glob(f"theirs/*/summary/*.{ending}"), None)
        own = folder / "ours" / f"summary.{ending}"
        if theirs is None or not own.is_file():
            yield f"{name}: there is no summary.{ending} of {'AISBench' if theirs is None else 'Proctor'}"
            continue
        written = [each.read_text(encoding="utf-8").splitlines() for each in (theirs, own)]
        without = {_cells(line)[0] for line in written[0] if _is_empty(line)} | FAILS.keys()
        lines = ([_explained(line) for line in each if _cells(line)[0] not in without] for each in written)
        pairs = zip_longest(*lines, fillvalue="")
        yield from (f"{name}: summary.{ending}: {a} / {b}" for a, b in pairs if not _is_same(a, b))


def _is_same(theirs: str, own: str) -> bool:
    """Return whether two lines are the same where AISBench has a number: it may stop at a dataset with one model."""
    cells = [each.split(",") for each in (theirs, own)]
    return len(cells[0]) == len(cells[1]) and all(a in (b, "-") for a, b in zip(*cells, strict=True))


def _cells(line: str) -> list[str]:
    """Return the cells of a line of a summary."""
    return re.split(r"\s*[,|]\s*", line.strip("| "))


def _is_empty(line: str) -> bool:
    """Return whether a dataset has no number of AISBench's: it stops at it, or its evaluation fails."""
    return set(_cells(line)[1:]) == {"-"}


def _explained(line: str) -> str:
    """Return a line of a summary without the numbers of ``pass@k`` and ``cons@k``."""
    cells = _cells(line)
    place = next((place for place, cell in enumerate(cells) if cell.startswith(("pass@", "cons@"))), len(cells))
    return ",".join(cells[: place + 2])  # dataset, version, metric, mode, a number for each model


def _score_differences(name: str, folder: Path) -> Iterator[str]:
    theirs, ours = their_scores(folder), our_scores(folder)
    alone = len({model for model, _ in theirs}) == 1
    compared = 0
    for (model, dataset), scores in sorted(theirs.items()):
        own = ours.get(("" if alone else model, dataset), ours.get((model, dataset)))
        if own is None:
            yield f"{name}: Proctor has no scores of {model}/{dataset}, AISBench has {scores}"
            continue
        for metric, value in scores.items():
            if metric.startswith(("pass@", "cons@")):
                continue
            compared += 1
            if metric not in own or abs(own[metric] - value) > 1e-6:
                yield f"{name}: {model}/{dataset} {metric} is {value} in AISBench, {own.get(metric)} here"
    print(f"{name}: {len(theirs)} datasets with scores of AISBench's, {compared} numbers compared")


def main() -> None:
    """Run and compare the configs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*RUNS, *SETS, *EDITED])
    parser.add_argument("--keep", type=Path, help="where both work; a temporary folder without it")
    parser.add_argument("--again", action="store_true", help="take what AISBench did in that folder before")
    options = parser.parse_args()
    found = []
    for name in options.names:
        folder = (options.keep or Path(tempfile.mkdtemp())) / name
        folder.mkdir(parents=True, exist_ok=True)
        for each in differences(name, folder, again=options.again):
            print("  " + each, flush=True)
            found.append(each)
    print(f"{len(found)} unexplained")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
