"""Compares readers of judgements, and what is small beside them, with OpenCompass' own functions and classes.

Usage: ``python -m conformance.aisbench.judgements``. Needs AISBench's environment (``AISBENCH_PYTHON``) and an unzipped
wheel of OpenCompass (``OPENCOMPASS_WHEEL``).
"""

# ruff: noqa: E501 - replies are easier to compare on a line

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from proctor.demos import LabelsRetriever
from proctor.demos.retrievers import Corpus
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.judgement_readers import REPORTS
from proctor.scoring.evaluators.texts import tydiqa

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
WHEEL = os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc")  # noqa: S108
_WORDS = (
    "A", "B", "C", "CORRECT: A", "I say B.", "none", "", "3.5 of 4", "-2", "10", "it is 7 points", "<NUMBER>0.5</NUMBER>",
    "\\boxed{0.25} then <NUMBER> 1 </NUMBER>", '```json\n{"answer_score": 1}\n```', '{"answer_score": "0"}', "评分: 1分",
    '{"Overall Score": 1}', '```json\n{"Overall Score": 0}\n```', "Overall Score: 1", "1 point", "TRUE", "correct",
)  # fmt: skip
_MODULES = {
    "simpleqa_postprocess": "datasets.simpleqa", "csimpleqa_postprocess": "datasets.chinese_simpleqa",
    "livereasonbench_postprocess": "datasets.livereasonbench.livereasonbench",
    "supergpqa_llmjudge_postprocess": "datasets.supergpqa.supergpqa", "medmcqa_llmjudge_postprocess": "datasets.medmcqa",
    "MedXpertQA_llmjudge_postprocess": "datasets.MedXpertQA", "medbullets_llmjudge_postprocess": "datasets.Medbullets",
    "numerical_llmjudge_postprocess": "datasets.matbench.post_process",
    "chem_exam_score_llmjudge_postprocess": "datasets.chem_exam", "eese_score_postprocess_dict": "datasets.eese.eese_postprocessors",
    "inverse_ifeval_judge_postprocess": "datasets.inverse_ifeval", "clbench_llmjudge_postprocess": "datasets.clbench",
}  # fmt: skip
_WITH_ROWS = ("supergpqa", "medmcqa", "MedXpertQA", "medbullets", "chem_exam", "inverse_ifeval", "clbench")


def _rows(draw: random.Random, count: int) -> list[dict[str, Any]]:
    names = ("discipline", "field", "subfield", "subject_name", "choice_type", "topic_name", "medical_task", "body_system",
             "question_type", "context_category")  # fmt: skip
    kinds = ("Question Correction", "Instructional Induction", "Other")
    return [
        {"question": "q", "options": [], "prompt": "p", "output": "o", "has_img": False, "language": draw.choice(["en", "zh"]),
         "instruction_types": draw.choice(kinds), **{name: f"{name}{draw.randint(0, 2)}" for name in names}}
        for _ in range(count)
    ]  # fmt: skip


def cases() -> list[dict[str, Any]]:
    """Return everything that is compared."""
    draw = random.Random(3)
    made: list[dict[str, Any]] = []
    for name, module in _MODULES.items():
        said = [draw.choice(_WORDS) for _ in range(40)]
        golds = [draw.randint(0, 9) if name.startswith("numerical") else "x" for _ in said]
        rows = _rows(draw, len(said)) if name.startswith(_WITH_ROWS) else []
        made.append({"kind": "reader", "module": module, "name": name, "said": said, "golds": golds, "rows": rows})
    answers = ["The cat.", "a dog\nmore", "", "Red car"]
    golds = [["cat", "the dog"], ["a dog"], ["x"], ["car red blue"]]
    made.append(
        {"kind": "evaluator", "module": "datasets.tydiqa", "name": "TydiQAEvaluator", "said": answers, "golds": golds}
    )
    index = [{"labels": draw.sample("abcdef", 2)} for _ in range(12)]
    rows = [{"labels": draw.sample("abcdef", 3)} for _ in range(12)]
    made += [
        {
            "kind": "retriever",
            "module": "datasets.xiezhi",
            "name": "XiezhiRetriever",
            "index": index,
            "rows": rows,
            "count": count,
        }
        for count in (1, 3, 8)
    ]
    return made


def ours(case: dict[str, Any]) -> Any:
    """Return what Proctor makes of a case."""
    if case["kind"] == "retriever":
        corpora = (Corpus(case[name], str) for name in ("index", "rows"))
        return [list(each) for each in LabelsRetriever(ice_num=case["count"]).retrieve(*corpora)]
    if case["kind"] == "evaluator":
        return tydiqa(Cases(case["said"], case["golds"])).scores
    return REPORTS[case["name"]](case["said"], case["rows"] or [{}] * len(case["said"]), case["golds"]).scores


def difference(found: Any, wanted: Any) -> str:
    """Return in what two answers differ, or nothing."""
    if isinstance(wanted, list):
        return "" if found == wanted else f"{found} / {wanted}"
    if "failed" in wanted:
        return str(wanted["failed"])
    flat = {f"category_accuracy/{key}": value for key, value in wanted.pop("category_accuracy", {}).items()}
    numbers = {key: value for key, value in {**wanted, **flat}.items() if not key.endswith(("_count", "total", "rate"))}
    odd = [key for key, value in numbers.items() if abs(found.get(key, -1) - value) > 1e-9]
    return "; ".join(f"{key}: {found.get(key)} / {wanted.get(key)}" for key in odd)


def main() -> int:
    """Print each difference and the counts; the exit status says whether all are equal."""
    listed = cases()
    with tempfile.TemporaryDirectory() as name:
        asked, told = Path(name, "asked.json"), Path(name, "told.json")
        asked.write_text(json.dumps(listed))
        oracle = str(Path(__file__).with_name("judgements_oracle.py"))
        subprocess.run([PYTHON, oracle, str(asked), str(told), WHEEL], check=True, stdout=subprocess.DEVNULL)
        wanted = json.loads(told.read_text())
    wrong = [
        (case, text) for case, answer in zip(listed, wanted, strict=True) if (text := difference(ours(case), answer))
    ]
    for case, text in wrong:
        print(f"DIFFERENT {case['name']}\n    {text}")
    print(f"{len(listed) - len(wrong)} of {len(listed)} equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
