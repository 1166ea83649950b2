"""Exams of every dialect in the form of every other, for the goldens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from conformance.own import aisbench_exams, hub_exams, lm_eval_exams, table_exams, unitxt_exams
from conformance.own.cases import Case

FORMS = ("lm-eval", "unitxt", "opencompass", "eval.yaml")
_WRITERS = {
    "lm_eval": lm_eval_exams.write,
    "unitxt": unitxt_exams.write,
    "aisbench": aisbench_exams.write,
    "hub_yaml": hub_exams.write,
    "tables": table_exams.write,
}
_EXAMS = {
    "lm_eval": ("text.yaml", "filters.yaml", "choice.yaml", "corpus.yaml", "last_word.yaml", "rolled.yaml"),
    "unitxt": ("classes_1.json", "choice_mmlu_choose.json", "many.json", "multi_label.json", "numbers.json"),
    "aisbench": ("oc.py::text_fixed", "oc.py::ppl", "oc.py::gsm8k", "ais.py::text_random"),
    "hub_yaml": ("includes/eval.yaml", "several/eval.yaml", "choice/eval.yaml", "judged/eval.yaml", "epochs/eval.yaml"),
    "tables": ("plain.csv", "letters.csv", "many.jsonl"),
}  # fmt: skip


def write(folder: Path) -> None:
    """Write the files of all dialects, each in its folder."""
    for name, write_files in _WRITERS.items():
        (folder / name).mkdir()
        write_files(folder / name)


def cases() -> Iterator[Case]:
    """Yield a case for each form and dialect."""
    for form in FORMS:
        for name, exams in _EXAMS.items():
            yield Case(f"{name}-to-{form}", exams, folder=name, to=form)
