"""How fast the viewer answers, and what memory it takes, with a thousand and with a million samples.

    python benchmarks/viewer.py [--samples 1000000] [--folder FOLDER]

Makes run folders (kept in FOLDER for the next time), serves them with ``proctor view`` in a process of its own, and
asks for every kind of page. Budgets: the first page in 0.3 s at 1,000 samples and 1 s at 1,000,000; any page turn or
search in 1 s; 300 MB of memory; a report of 10,000 samples in 5 MB; the list of 400 runs of 60 exams in 0.05 s of
CPU time once the runs were read.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlencode, urlsplit

FIRST_SECONDS = {1_000: 0.3, 1_000_000: 1.0}
TURN_SECONDS = 1.0
MEMORY_MB = 300
REPORT_MB = 5
REPORTED = 10_000
"""Samples of the report whose size is measured."""
LISTED_RUNS, LISTED_EXAMS = 400, 60
LIST_SECONDS = 0.05
"""CPU time of the list of so many runs, of so many exams each."""
EXAMS = 3
WORDS = [f"w{number:x}" for number in range(50_000)]


def write_run(folder: Path, count: int) -> None:
    """Write a run folder with ``count`` samples in three exams, one of them with groups, all of them in a suite."""
    if (folder / "results.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    source = random.Random(0)
    with (folder / "samples.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            file.write(json.dumps(sample(number, source)) + "\n")
    names = [f"exam{number}" for number in range(EXAMS)]
    entry = {"score": 0.5, "score_name": "accuracy", "n": count // EXAMS, "failures": count // (100 * EXAMS)}
    groups = [{"by": {"topic": topic}, **entry} for topic in ("rivers", "hills")]
    results = dict.fromkeys(names, entry) | {
        "exam0": {**entry, "groups": groups},
        "suite": {**entry, "n": count, "members": names[:2]},
    }
    specification = {"model": "none", "tasks": names, "exams": {name: {} for name in names}}
    (folder / "run.yaml").write_text(json.dumps(specification), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps({"results": results, "run": {}}), encoding="utf-8")


def sample(number: int, source: random.Random) -> dict[str, object]:
    """Return one line of ``samples.jsonl``."""
    question = " ".join(source.choices(WORDS, k=15))
    fails = source.random() < 0.01
    return {
        "exam": f"exam{number % EXAMS}",
        "doc_id": number // EXAMS,
        "input": {"question": question, "topic": source.choice(("rivers", "hills")), "metadata": {}},
        "kind": "generate",
        "prompt": f"Answer the question.\n{question}\nAnswer:",
        "continuations": None,
        "output": " ".join(source.choices(WORDS, k=5)),
        "references": [source.choice(WORDS)],
        "failure": {"kind": "timeout", "message": "no answer"} if fails else None,
        "processed_prediction": "x",
        "scores": {"score": None if fails else source.choice((0.0, 0.5, 1.0))},
    }


def queries(count: int) -> dict[str, str]:
    """Return the pages of instances that are asked for, by what they are."""
    pages = max(1, count // 50)
    asked = {
        "as asked, first page": {},
        "as asked, last page": {"page": pages},
        "worst first": {"order": "score"},
        "worst first, middle": {"order": "score", "page": pages // 2},
        "best first": {"order": "-score"},
        "best first, last page": {"order": "-score", "page": pages},
        "one exam": {"exam": "exam1"},
        "one exam, worst first, last page": {"exam": "exam1", "order": "score", "page": pages // EXAMS},
        "suite": {"subset": "suite"},
        "suite, middle": {"subset": "suite", "page": pages // 3},
        "suite, worst first": {"subset": "suite", "order": "score"},
        "suite, worst first, last page": {"subset": "suite", "order": "score", "page": 2 * pages // 3},
        "group": {"group": "topic=rivers"},
        "group, last page": {"group": "topic=rivers", "page": pages // 6},
        "group, worst first, last page": {"group": "topic=rivers", "order": "score", "page": pages // 6},
        "group, failed": {"group": "topic=rivers", "failed": "yes"},
        "failed": {"failed": "yes"},
        "not failed, middle": {"failed": "no", "page": pages // 2},
        "score between": {"lowest": "0.25", "highest": "0.75"},
        "score between, best first, middle": {"lowest": "0.25", "order": "-score", "page": pages // 3},
        "search, rare word": {"q": "w3f2a"},
        "search, word of every sample": {"q": "question"},
        "search, beginning": {"q": "w3*"},
        "search, worst first": {"q": "w3*", "order": "score"},
        "search, two words": {"q": "question w3f*"},
        "search in a suite": {"q": "answer", "subset": "suite", "failed": "no"},
        "search in a group": {"q": "w1*", "group": "topic=hills"},
    }
    return {name: f"samples?{urlencode(values)}" for name, values in asked.items()} | {
        "one instance": f"samples/{count // 2}",
        "one instance among the worst": f"samples/{count // 2}?order=score",
        "one instance among the best": f"samples/{count // 2}?order=-score",
        "one instance of a group": f"samples/{count // 2 // 6 * 6}?group=topic%3Drivers&order=score",
        "one instance of a search": f"samples/{count // 2}?q=question",
        "one instance of a suite": f"samples/{count // 2}?subset=suite&order=score",
    }


@contextmanager
def viewer(folder: Path, cache: Path) -> Iterator[tuple[str, int]]:
    """Serve a folder; yield the address of its run and the process id."""
    environment = {**os.environ, "PROCTOR_CACHE_DIR": str(cache)}
    command = [sys.executable, "-m", "proctor", "view", str(folder), "--port", "0", "--no-open"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield first_page(process.stderr.readline().strip() if process.stderr else ""), process.pid
        finally:
            process.terminate()


def first_page(printed: str) -> str:
    """Return where the address that was printed leads to, without opening it; later requests have its token."""
    place, _, token = printed.partition("?token=")
    opener = urllib.request.build_opener()
    opener.addheaders = [("Authorization", f"Bearer {token}")]
    urllib.request.install_opener(opener)
    asked = HTTPConnection(urlsplit(place).netloc)
    asked.request("GET", "/", headers=dict(opener.addheaders))
    with asked.getresponse() as answer:
        return place.rstrip("/") + str(answer.getheader("location"))


def get(address: str) -> tuple[float, str]:
    """Return how long a page took in seconds, and the page."""
    started = time.perf_counter()
    with urllib.request.urlopen(address, timeout=120) as answer:  # noqa: S310 - our own server
        page = answer.read().decode("utf-8")
    return time.perf_counter() - started, page


def memory_mb(pid: int, name: str = "VmHWM") -> float:
    """Return the most memory a process ever had, in MB; ``VmRSS`` is what it has now."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def measure_pages(folder: Path, count: int) -> bool:
    """Print the times of all pages of a run; return whether they are within the budgets."""
    first_budget = FIRST_SECONDS.get(count, TURN_SECONDS)
    good = True
    with tempfile.TemporaryDirectory(dir=folder.parent) as cache, viewer(folder, Path(cache)) as (address, pid):
        print(f"\n{count:,} samples, {(folder / 'samples.jsonl').stat().st_size / 1e6:,.0f} MB")
        get(address.partition("/runs")[0] + "/static/app.css")  # the server is up
        for name, path in {"first page": "", "first instances, not indexed": "/samples"}.items():
            good &= report(name, get(address + path)[0], first_budget)
        started, slowest = time.perf_counter(), 0.0
        while "indexed so far" in (answer := get(f"{address}/samples?page=2"))[1]:
            slowest = max(slowest, answer[0])
            time.sleep(1.0)
        print(f"  {'indexed after':<44}{time.perf_counter() - started:8.1f} s")
        good &= report("slowest page while indexing", slowest, TURN_SECONDS)
        indexing = memory_mb(pid)
        good &= report("first page again", get(address)[0], first_budget)
        for name, path in queries(count).items():
            good &= report(name, min(get(f"{address}/{path}")[0] for _ in range(2)), TURN_SECONDS)
        good &= report("most memory while indexing", indexing, MEMORY_MB, "MB")
        good &= report("most memory", memory_mb(pid), MEMORY_MB, "MB")
    return good


def report(name: str, value: float, budget: float, unit: str = "s") -> bool:
    """Print a measurement beside its budget; return whether it is within."""
    print(f"  {name:<44}{value:8.3f} {unit:<3}{'' if value <= budget else f'over {budget}'}", flush=True)
    return value <= budget


def measure_report(folder: Path) -> bool:
    """Print the size of a report."""
    write_run(folder, REPORTED)
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "report.html"
        started = time.perf_counter()
        command = [sys.executable, "-m", "proctor", "report", str(folder), "--samples", str(REPORTED), "-o", str(path)]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, "PROCTOR_CACHE_DIR": place})
        print(f"\n{REPORTED:,} samples, report.html ({time.perf_counter() - started:.1f} s)")
        return report("size", path.stat().st_size / 1e6, REPORT_MB, "MB")


def write_runs(folder: Path) -> None:
    """Write run folders of many exams, without samples."""
    names = [f"exam{number}" for number in range(LISTED_EXAMS)]
    entry = {"score": 0.5, "score_name": "accuracy", "n": 100, "failures": 1, "score_ci_low": 0.4, "score_ci_high": 0.6}
    for number in range(LISTED_RUNS):
        run = folder / f"run{number}"
        run.mkdir(parents=True, exist_ok=True)
        specification = {"model": f"model{number % 20}", "tasks": names, "exams": {name: {} for name in names}}
        (run / "run.yaml").write_text(json.dumps(specification), encoding="utf-8")
        (run / "results.json").write_text(json.dumps({"results": dict.fromkeys(names, entry), "run": {}}))


def cpu_seconds(pid: int) -> float:
    """Return the CPU time that a process has used."""
    ticks = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def measure_list(folder: Path) -> bool:
    """Print the CPU time of the list of many runs, read and read again."""
    write_runs(folder)
    with tempfile.TemporaryDirectory(dir=folder.parent) as cache, viewer(folder, Path(cache)) as (address, pid):
        print(f"\n{LISTED_RUNS} runs of {LISTED_EXAMS} exams, CPU time")
        began = cpu_seconds(pid)
        get(address)
        print(f"  {'the first list, which reads the runs':<44}{cpu_seconds(pid) - began:8.3f} s")
        began = cpu_seconds(pid)
        for _ in range(_LISTS):
            get(address)
        return report("the list", (cpu_seconds(pid) - began) / _LISTS, LIST_SECONDS)


_LISTS = 20  # the clock of a process ticks a hundred times a second


def main() -> int:
    """Measure everything; the exit status says whether all is within the budgets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "proctor-viewer-benchmark")
    given = parser.parse_args()
    good = measure_report(given.folder / "10000")
    good &= measure_list(given.folder / f"{LISTED_RUNS} runs")
    for count in dict.fromkeys((1_000, given.samples)):
        folder = given.folder / str(count)
        write_run(folder, count)
        good &= measure_pages(folder, count)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
