"""The walk of one row through each dialect: which files of the core and of the dialect it passes.

The second question of an exam is asked (the first compiles), then two answers are graded; every function of Proctor
that is called is traced. Prints a line for each dialect, as docs/architecture.md has it.

    python benchmarks/walk.py
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

import proctor
from proctor.dialects import resolve_tasks
from proctor.ir import Answered, Response

ROOT = Path(proctor.__file__).parent
TASK = """task: walk
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
metric_list: [{metric: exact_match}]
"""
CONFIG = """datasets = [dict(
    type='CustomDataset', abbr='walk', path='rows.jsonl', reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{question}'), retriever=dict(type='ZeroRetriever'),
                   inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""  # noqa: E501 - a config
EXAMS = {"recipe": "samples.sentiment", "YAML task": "walk.yaml", "config": "walk.py"}
OWN = {"recipe": "dialects/unitxt", "YAML task": "dialects/lm_eval", "config": "dialects/aisbench"}


def traced(call: Callable[[], object]) -> set[str]:
    """Return the files of Proctor whose functions a call runs, by their path below the package."""
    seen: set[str] = set()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(f"{ROOT}{os.sep}"):
            seen.add(str(Path(frame.f_code.co_filename).relative_to(ROOT)))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return seen


def split(files: set[str], dialect: str) -> str:
    """Return how many of some files belong to a dialect, and how many to the core."""
    own = {each for each in files if each.startswith(dialect)}
    return f"{len(own)} / {len(files - own)}"


def main() -> None:
    """Print the table."""
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        rows = [{"question": f"{n}?", "answer": str(n)} for n in range(6)]
        Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        Path("walk.yaml").write_text(TASK, encoding="utf-8")
        Path("walk.py").write_text(CONFIG, encoding="utf-8")
        for name, task in EXAMS.items():
            (exam,) = resolve_tasks([task])
            questions = exam.questions()
            first = next(questions)
            second: list[object] = []
            asking = traced(lambda: second.append(next(questions)))  # noqa: B023 - called at once
            answers = [Answered(each, [Response(texts=("1",))]) for each in (first, *second)]  # type: ignore[arg-type]
            exam.grade(answers)
            grading = traced(lambda: exam.grade(answers))  # noqa: B023 - called at once
            print(f"| {name} | {split(asking, OWN[name])} | {split(grading, OWN[name])} |")
            print(f"  asked: {', '.join(sorted(asking))}")
            print(f"  graded: {', '.join(sorted(grading))}")


if __name__ == "__main__":
    main()
