"""Compares readers of judgements, and what is small beside them, with OpenCompass' own functions and classes.

Usage: ``python -m conformance.aisbench.judgements``. Needs AISBench's environment (``AISBENCH_PYTHON``) and an unzipped
wheel of OpenCompass (``OPENCOMPASS_WHEEL``).
"""

# ruff: noqa: E501, RUF001 - replies are easier to compare on a line

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
from proctor.scoring.evaluators.rule_puzzles import korbench
from proctor.scoring.evaluators.texts import tydiqa
from proctor.scoring.text.postprocessors.texts import shortened

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


_REPLIES = (
    "[[A]]", "so [[ a ]]", "[[A;B]] or", "[[B;A]]", "$\\boxed{A}$", "[x]", "none", "[[1,2, 3]]", "[[3, 2,1]]", "[[3+4×2=11]]",
    "[[3 + 4 * 2 = 11]]", "[[(1+3)*(8-2)]]", "[[4*(8-2)*1]]", "[[(8−2)*4*1=24]]", "[[x or y]]", "[[y\\text{or}x]]", "[[Cat dog]]",
    "[[dog, cat]]", "[[a b. c]]", "[[ab c]]", "[[__import__('os')]]", "[[1 2 3]]", "[[≥ 3]]", "", "[[]]", "[[3+4*2=12]]",
)  # fmt: skip


def _korbench(draw: random.Random, folder: Path) -> list[dict[str, Any]]:
    said, golds, rows = [], [], []
    kinds = ("logic", "operation", "puzzle", "cipher", "counterfactual")
    golden = [each for each in _REPLIES if each.startswith("[[") and len(each) > 4]
    for category in kinds:
        samples = []
        for rule in range(1, 26):
            equations = [each for each in golden if "=" in each]
            for _ in range(40):
                said.append(draw.choice(_REPLIES))
                golds.append(draw.choice(equations if category == "puzzle" and rule == 9 else golden))
                mode = draw.choice(["0_shot", "3_shot", "0_shot", "none"])
                rows.append({"prompt_mode": mode, "category": category, "rule_id": str(rule)})
            samples.append({"idx": str(rule), "rule_id": str(rule), "answer": golds[-1], "category": category})
        (folder / category).mkdir()
        (folder / category / "sample.json").write_text(json.dumps(samples))
    listed = {each: json.loads((folder / each / "sample.json").read_text()) for each in kinds}
    for _ in range(400):
        answers = [draw.choice(listed[draw.choice(kinds)]) for _ in range(draw.randint(1, 3))]
        replies = {f"q{i}": draw.choice([each["answer"], draw.choice(_REPLIES)]) for i, each in enumerate(answers)}
        if draw.random() < 0.2:
            replies.popitem()
        said.append(draw.choice(["", "so:\n", "{"]) + json.dumps(replies, indent=draw.choice([None, 1])))
        golds.append("")
        names = [f"{each['category']}_{each['idx']}" for each in answers]
        rows.append({"prompt_mode": "mixed", "question_list": names, "base_path": str(folder), "answers": answers})
    one = {"kind": "evaluator", "module": "datasets.korbench.korbench", "name": "korbenchEvaluator"}
    places = range(len(said))
    return [{**one, "said": [said[i]], "golds": [golds[i]], "rows": [rows[i]]} for i in places]


def cases(folder: Path) -> list[dict[str, Any]]:
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
    made += _korbench(draw, folder)
    made.append({"kind": "text", "module": "datasets.clbench", "name": "clbench_pred_postprocess", "said": ["a b \n", "", "x" * 9, "y"],
                 "arguments": {"max_chars": 4}})  # fmt: skip
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
    if case["kind"] == "text":
        return [shortened(each, **case["arguments"]) for each in case["said"]]
    if case["kind"] == "evaluator":
        judge = korbench if case["name"] == "korbenchEvaluator" else tydiqa
        return judge(Cases(case["said"], case["golds"], case.get("rows", ()))).scores
    return REPORTS[case["name"]](case["said"], case["rows"] or [{}] * len(case["said"]), case["golds"]).scores


def difference(found: Any, wanted: Any) -> str:
    """Return in what two answers differ, or nothing."""
    if isinstance(wanted, list):
        return "" if found == wanted else f"{found} / {wanted}"
    if "failed" in wanted:
        return str(wanted["failed"])
    flat = {f"category_accuracy/{key}": value for key, value in wanted.pop("category_accuracy", {}).items()}
    numbers = {key: value for key, value in {**wanted, **flat}.items() if not key.endswith(("_count", "total", "rate"))}
    odd = [key for key, value in numbers.items() if found.get(key) != value]
    return "; ".join(f"{key}: {found.get(key)} / {wanted.get(key)}" for key in odd)


def main() -> int:
    """Print each difference and the counts; the exit status says whether all are equal."""
    with tempfile.TemporaryDirectory() as name:
        listed = cases(Path(name))
        asked, told = Path(name, "asked.json"), Path(name, "told.json")
        asked.write_text(json.dumps(listed))
        oracle = str(Path(__file__).with_name("judgements_oracle.py"))
        subprocess.run([PYTHON, oracle, str(asked), str(told), WHEEL], check=True, stdout=subprocess.DEVNULL)
        wanted = json.loads(told.read_text())
    wrong = [
        (case, text) for case, answer in zip(listed, wanted, strict=True) if (text := difference(ours(case), answer))
    ]
    for case, text in wrong:
        print(
            f"DIFFERENT {case['name']} {case['said'][:1]} {case.get('golds', [])[:1]} {case.get('rows', [])[:1]}\n    {text}"
        )
    print(f"{len(listed) - len(wrong)} of {len(listed)} equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
