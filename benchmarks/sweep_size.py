"""``proctor sweep`` of many wordings beside ``proctor run`` of as many questions: CPU seconds and peak memory.

A hundred templates, five numbers of demos, a thousand questions are 500,000 scripted answers, as five whole runs of
100,000 are (with two demos each, the mean of the sweep's 0, 1, 2, 3 and 4).

    python benchmarks/sweep_size.py              # the whole: some minutes
    python benchmarks/sweep_size.py 10 1000      # so many templates, so many questions

Ends with 1 where the sweep takes more than a tenth, and five seconds for its statistics, longer.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

TEMPLATES, QUESTIONS, DEMOS, RUNS = 100, 1_000, "0,1,2,3,4", 5
MOST, STATISTICS = 1.1, 5.0
TASK = """
task: parity
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl, train: shown.jsonl}}
test_split: test
fewshot_split: train
output_type: generate_until
doc_to_text: "Question: {{question}}\\nAnswer:"
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 8}
metric_list: [{metric: exact_match}]
"""


def write(folder: Path, questions: int, templates: int) -> None:
    """Write a task, its rows and the templates."""
    folder.mkdir()
    for name, first, count in (("rows", 0, questions), ("shown", 10**7, 50)):
        rows = (
            {"question": f"Is {n} even or odd?", "answer": ("even", "odd")[n % 2]} for n in range(first, first + count)
        )
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "t.yaml").write_text(TASK)
    (folder / "ways.txt").write_text("\n---\n".join(f"Way {n}: {{question}}\nAnswer:" for n in range(templates)))


def command(what: str, output: str, *more: str) -> list[str]:
    """Return a command of Proctor's about the task."""
    asked = ["--model", "scripted", "--model-args", "answer=even", "--log", "log.db", "--output", output, "-q", *more]
    return [sys.executable, "-m", "proctor", what, *(["--tasks"] if what == "run" else []), "t.yaml", *asked]


def measured(folder: Path, words: list[str]) -> tuple[float, float]:
    """Return CPU seconds and peak megabytes of a command.

    Raises:
        RuntimeError: It failed.
    """
    with (folder / "said.txt").open("wb") as said:
        child = subprocess.Popen(words, stdout=said, stderr=said, cwd=folder)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError((folder / "said.txt").read_text(encoding="utf-8"))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main(arguments: list[str] | None = None) -> int:
    """Print what was measured; return 1 where a sweep takes more than a tenth longer."""
    given = [int(each) for each in (sys.argv[1:] if arguments is None else arguments)]
    templates, questions = given or (TEMPLATES, QUESTIONS)
    levels = len(DEMOS.split(","))
    whole = templates * levels * questions
    with TemporaryDirectory() as place:
        one, other = Path(place) / "one", Path(place) / "other"
        write(one, whole // RUNS, 1)
        write(other, questions, templates)
        runs = [measured(one, command("run", f"r{n}", "--num-demos", "2", "--seed", str(n))) for n in range(RUNS)]
        seconds, megabytes = measured(other, command("sweep", "out", "--templates", "ways.txt", "--demos", DEMOS))
        usual = sum(cpu for cpu, _ in runs)
        print(f"{RUNS} runs of {whole // RUNS:,}: {usual:.1f} CPU s, {max(mb for _, mb in runs):.0f} MB")
        print(f"{templates * levels} wordings of {questions:,}: {seconds:.1f} CPU s, {megabytes:.0f} MB")
        print(f"ratio {seconds / usual:.2f}")
    return int(seconds > MOST * usual + STATISTICS)


if __name__ == "__main__":
    sys.exit(main())
