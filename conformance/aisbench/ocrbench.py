"""Compares the scores of OCRBench v2's questions with those of AISBench's own rules, on thousands of made-up answers.

Usage: ``python -m conformance.aisbench.ocrbench [--count N] [--record FILE]``. Needs AISBench's environment
(``AISBENCH_PYTHON``) with ``apted``, ``zss``, ``distance``. Questions whose texts are read whole are left out
where NLTK's WordNet is not there (``NLTK_DATA``), and the report says how many.
"""

# ruff: noqa: RUF001, SIM905 - words are easier to read in a line

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.ocrbench.questions import data_of, ocrbench, question_score
from proctor.scoring.metrics.text_packages import WORDNET
from proctor.scoring.packages import lacking

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/env-conf/aisbench/bin/python")  # noqa: S108 - a throwaway environment
_WORDS = (
    "harbour street Quay 12 lamp lamps the mind gap door doors red, blue; 3.5 EXIT sign of a x^2 + {y} \\frac"
).split(" ")
_CHINESE = list("北京上海天安门道路禁止停车请勿吸烟出口今日特价，。、甲乙丙丁")
Case = dict[str, Any]
Draw = random.Random


def words(draw: Draw, least: int = 1, most: int = 9) -> str:
    """Return words, some of them Chinese."""
    pool = _CHINESE if draw.random() < 0.25 else _WORDS
    return draw.choice((" ", " ", "\n", "")).join(draw.choices(pool, k=draw.randint(least, most)))


def changed(draw: Draw, text: str) -> str:
    """Return a text as a model might say it: as it is, in a sentence, with slips, cut, or another."""
    slips = list(text)
    for _ in range(draw.randint(1, 4)):
        if slips:
            slips[draw.randrange(len(slips))] = draw.choice(" aA1.,\n|#北")
    half = text[: len(text) // 2]
    return draw.choice(
        [
            text,
            text.upper(),
            f"The answer is {text}.",
            "".join(slips),
            half,
            text[::-1],
            words(draw),
            f"{text}\n{text}",
            "",
        ]
    )


def boxes(draw: Draw) -> list[int]:
    """Return a box, most often one."""
    left, top = draw.randint(0, 500), draw.randint(0, 500)
    return draw.choice([[left, top, left + draw.randint(0, 600), top + draw.randint(1, 600)], [top, left, left, top]])


def table(draw: Draw) -> str:
    """Return a table in HTML, some of it broken."""
    tags = ["td", "td", "td", "th"]
    spans = ["", "", "", ' colspan="2"', " rowspan='3'", ' colspan="x"']
    marks = ["{}", "{}", "{}", "<b>{}</b>", "{}<br>", "<!-- x -->{}", "<?pi?>{}", "<unk>{}", "&lt;{}", "<td>{}"]
    rows = ""
    for _ in range(draw.randint(0, 4)):
        cells = ""
        for _ in range(draw.randint(0, 4)):
            tag = draw.choice(tags)
            cells += (
                f"<{tag}{draw.choices(spans, [6, 6, 6, 2, 2, 0.3])[0]}>{draw.choice(marks).format(words(draw, 0, 3))}"
            )
            cells += draw.choice([f"</{tag}>", f"</{tag}>\n", f"</{tag}> "]) if draw.random() < 0.95 else ""
        rows += f"<tr>{cells}</tr>" + draw.choice(["", "\n"])
    rows = draw.choice([rows, rows, f"<thead>{rows}</thead>", f"<tbody>{rows}</tbody>"])
    whole = draw.choice(["<table>{}</table>", "<table>{}</table>", "<table border=1>{}", "{}</table>", "{}"])
    page = draw.choice(["{}", "{}", "<html><body>{}</body></html>", "<body>{}</body>", "```html\n{}\n```", "{} bye"])
    return page.format(whole.format(rows))


def markdown(draw: Draw) -> str:
    """Return a table in Markdown."""
    width = draw.randint(1, 4)
    lines = ["| " + " | ".join(words(draw, 0, 2).replace("\n", " ") for _ in range(width)) + " |" for _ in range(4)]
    lines[1] = "|---" * width + "|"
    fence = draw.choice(["{}", "```markdown\n{}\n```", "Here:\n{}", "{}\nmarkdown"])
    return fence.format("\n".join(lines[: draw.randint(1, 4)]))


def fields(draw: Draw) -> dict[str, Any]:
    """Return names with values."""
    names = draw.sample(["name", "total", "date", "no of items", "地址", "tax"], k=draw.randint(1, 5))
    return {name: words(draw, 0, 3) for name in names}


def said_fields(draw: Draw, known: dict[str, Any]) -> str:
    """Return fields as a model might say them."""
    said = {key: changed(draw, str(value)) if draw.random() < 0.4 else value for key, value in known.items()}
    if draw.random() < 0.3 and said:
        said.pop(draw.choice(sorted(said)))
    if draw.random() < 0.2:
        said["more"] = draw.choice([1, None, "x", ["a"], {"b": 1}])
    lines = "\n".join(f"{key}: {value}" for key, value in said.items())
    forms = [
        json.dumps(said), repr(said), f"```json\n{json.dumps(said)}\n```", f"```python\nfound = {said!r}\n```", lines,
        f"data = {said!r}  # done", json.dumps([said]), json.dumps(said)[:-2], "[1, 2: 3]", "{[1]: 2}", "{}", "7",
        "{1: 'a'}", f"Here: {said!r} ok", "", "'a: b'", "null", f"```\n{{}}\n```\n```\n{said!r}\n```",
    ]  # fmt: skip
    return draw.choices(forms, [8, 8, 5, 5, 8, 5, 1, 3, 1, 1, 1, 1, 1, 3, 1, 1, 1, 2])[0]


def page(draw: Draw) -> str:
    """Return a page in Markdown, with headings that come again as lines."""
    heads = [
        "# One",
        "## Two",
        "#",
        "# ROOT",
        "Two",
        " One",
        "# *Three*",
        " \\begin {table}",
        "\\end{table}",
        "",
        "{ x }",
    ]
    return "\n".join(draw.choice([draw.choice(heads), words(draw, 0, 5)]) for _ in range(draw.randint(1, 14)))


# -- answers of each type --------------------------------------------------------------------------------------------


def _short(draw: Draw) -> Case:
    listed = [draw.choice([words(draw), draw.randint(0, 40), 2.5]) for _ in range(draw.randint(1, 3))]
    rule = draw.choices(["without eval", "multiple choice", "case sensitive", "other"], [6, 2, 2, 0.2])[0]
    answers: Any = draw.choices([listed, words(draw), ["B"], "AC", []], [6, 2, 2, 1, 0.3])[0]
    first = str((answers or [""])[0]) if isinstance(answers, list) else answers
    return {"answers": answers, "evals": rule, "said": draw.choice([changed(draw, first), f"({first})."])}


def _handwriting(draw: Draw) -> Case:
    answers = draw.choice([["AC"], ["B"], [words(draw)], ["A", "B"], "C"])
    signs = draw.choice(["", ".", ", ", "、", "-", " ", "和"])
    said = draw.choice([signs.join(answers[0]), changed(draw, answers[0])])
    return {"answers": answers, "said": said, "question": draw.choice(["简答题", "选择题", "x"])}


def _formula(draw: Draw) -> Case:
    formulas = ["x^2 + 1", r"3\text{cm}", r"\frac{1}{2}", r"\text{长} = 2", "y_{ 1 }"]
    answers = draw.choices([[draw.choice(formulas)], draw.choice(formulas), draw.sample(formulas, 2)], [6, 1, 1])[0]
    first = answers[0] if isinstance(answers, list) else answers
    return {
        "answers": answers,
        "said": draw.choice([changed(draw, first), first.replace(" ", ""), rf"$\text{{{first}}}$"]),
    }


def _count(draw: Draw) -> Case:
    answers = [draw.choice([draw.randint(0, 20), str(draw.randint(0, 20)), "seven"]) for _ in range(draw.randint(1, 3))]
    said = draw.choice([f"There are {draw.randint(0, 30)}", "none", f"{draw.randint(0, 30)} or 7", "SEVEN"])
    return {"answers": answers, "evals": draw.choice(["exact match", "regression"]), "said": said}


def _table(draw: Draw) -> Case:
    form = draw.choices(["Give HTML", "as Markdown", "as text", None], [6, 5, 0.3, 0.3])[0]
    made = markdown if form == "as Markdown" else table
    answer = made(draw)
    said = draw.choice([answer, changed(draw, answer), made(draw), made(draw)])
    return {"answers": [answer], "question": form, "said": said}


def _chart(draw: Draw) -> Case:
    answer = {**fields(draw), "more": draw.choice([1, {"a": 2}, [3, 4], "x\ny"])}
    near = {**answer, draw.choice(sorted(answer)): words(draw)}
    said = draw.choice([repr(answer), said_fields(draw, near), f"chart = {near!r}\nThat is it", "```\n{1: 2}\n```"])
    return {"answers": [draw.choices([answer, {}, "x"], [9, 0.2, 0.2])[0]], "said": said}


def _page(draw: Draw) -> Case:
    answer = page(draw)
    return {"answers": [answer], "said": draw.choice([answer, changed(draw, answer), page(draw)])}


def _fields(draw: Draw) -> Case:
    known = fields(draw)
    several = {key: draw.choice([value, [value, words(draw)], [None, value]]) for key, value in known.items()}
    lists = {key: value if isinstance(value, list) else [value] for key, value in several.items()}
    forms = [json.dumps(several), repr(several), lists, known, repr(repr(several)), "no fields", "[1]", "'5'",
             json.dumps({**known, "n": 3}), json.dumps({**known, "n": []}), "{}"]  # fmt: skip
    answer = draw.choices(forms, [6, 4, 4, 1, 1, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3])[0]
    return {"answers": [answer], "said": said_fields(draw, known)}


def _chinese_fields(draw: Draw) -> Case:
    known = fields(draw)
    several = {key: draw.choice([value, [value, words(draw)]]) for key, value in known.items()}
    return {"answers": [repr(several)], "said": said_fields(draw, known)}


def _placed(draw: Draw) -> Case:
    box, answer = boxes(draw), words(draw)
    said_box = draw.choice(
        [box, boxes(draw), box[:3], "left", [*box, 1], "1e999", [1e300] * 4, [str(each) for each in box]]
    )
    said = {"answer": changed(draw, answer), "bbox": draw.choice([said_box, str(said_box)])}
    return {
        "answers": draw.choice([[answer], [answer, "x"], answer]), "bbox_raw": draw.choice([str(box), "without bbox"]),
        "said": draw.choice([json.dumps(said), said_fields(draw, said), repr(said)]),
    }  # fmt: skip


def _grounded(draw: Draw) -> Case:
    box = boxes(draw)
    said = draw.choice([box, boxes(draw), [1001, 2, 3, 4], tuple(box), box[:3]])
    text = draw.choice([str(said), f"first {boxes(draw)} then {said}.", "nowhere"])
    return {"answers": draw.choice([box, [str(each) for each in box]]), "said": text}


def _spotted(draw: Draw) -> Case:
    return {"answers": ["x"], "said": draw.choice([str([[*boxes(draw), "EXIT"]]), "none", f"({boxes(draw)})"])}


def _long(draw: Draw) -> Case:
    answer = words(draw, 0 if draw.random() < 0.05 else 1, 40)
    return {"answers": [answer], "said": changed(draw, answer)}


TYPES: dict[str, Callable[[Draw], Case]] = {
    "text recognition en": _short, "diagram QA en": _short, "cognition VQA cn": _short, "reasoning VQA cn": _short,
    "handwritten answer extraction cn": _handwriting, "formula recognition en": _formula,
    "formula recognition cn": _formula, "text counting en": _count, "table parsing en": _table,
    "table parsing cn": _table, "chart parsing en": _chart, "document parsing en": _page, "document parsing cn": _page,
    "key information extraction en": _fields, "key information mapping en": _fields,
    "key information extraction cn": _chinese_fields, "VQA with position en": _placed, "text grounding en": _grounded,
    "text spotting en": _spotted, "text translation cn": _long, "fine-grained text recognition en": _long,
    "full-page OCR en": _long, "full-page OCR cn": _long, "text spotting cn": _long,
}  # fmt: skip
"""Types of questions with a maker of answers; the last is none of the benchmark's."""


def made_cases(count: int) -> list[Case]:
    """Return ``count`` questions of each type with what was said."""
    draw = random.Random(77)
    found = []
    for kind, maker in TYPES.items():
        for _ in range(count if kind != "text spotting cn" else 1):
            case = maker(draw)
            reference = {
                "answer": str(case["answers"]), "category": kind, "question": case.get("question", "What?"),
                "evals": case.get("evals", "without eval"), "bbox_raw": case.get("bbox_raw", "without bbox"),
                "content": "without content",
            }  # fmt: skip
            if isinstance(case["answers"], str):
                reference["answer"] = repr(case["answers"])
            found.append({"said": case["said"], "reference": reference})
    return found


def ours(case: Case) -> Any:
    """Return Proctor's score of an answer; what fails as text."""
    try:
        return question_score(case["said"], case["reference"])
    except (ValueError, TypeError, SyntaxError, LookupError, AttributeError) as error:
        return {"failed": f"{type(error).__name__}: {error}"}


_NEAR = 1e-9
"""Costs of trees are summed in another order."""


def is_same(found: Any, wanted: Any) -> bool:
    """Return whether two scores are equal; where upstream stops, Proctor may have a score."""
    if isinstance(wanted, dict):
        return True
    if found is None or wanted is None:
        return found is wanted
    return not isinstance(found, dict) and abs(float(found) - float(wanted)) <= _NEAR


def main() -> int:
    """Print each difference and the counts; the exit status says whether all are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=250, help="questions of each type")
    parser.add_argument("--record", type=Path, help="the file of the tests (tests/scoring/ocrbench/upstream.jsonl.gz)")
    options = parser.parse_args()
    made = made_cases(options.count)
    absent = any(lacking("OCRBench v2", [WORDNET]))
    cases = [case for case in made if not (absent and data_of(case["reference"]))]
    if left_out := len(made) - len(cases):
        print(f"{left_out} of {len(made)} questions are left out: they need WordNet, which NLTK does not find")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
        oracle = str(Path(__file__).with_name("ocrbench_oracle.py"))
        subprocess.run(
            [PYTHON, oracle, "cases.json", "answers.json"], cwd=folder, check=True, stderr=subprocess.DEVNULL
        )
        answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    found = [ours(case) for case in cases]
    counts: Counter[str] = Counter()
    wrong = 0
    for case, own, wanted in zip(cases, found, answers["single"], strict=True):
        counts["upstream stops"] += isinstance(wanted, dict)
        counts["upstream stops and Proctor scores"] += isinstance(wanted, dict) and not isinstance(own, dict)
        counts["left out"] += wanted is None
        counts["neither 0 nor 1"] += isinstance(wanted, float) and 0 < wanted < 1
        if not is_same(own, wanted):
            wrong += 1
            print(f"DIFFERENT {own} / {wanted}: {json.dumps(case, ensure_ascii=False)[:900]}")
    good = [case for case, answer in zip(cases, answers["single"], strict=True) if not isinstance(answer, dict)]
    parts = (good, good[::3], [case for case in good if case["reference"]["category"].endswith("cn")])
    for part, wanted in zip(parts, answers["whole"], strict=True):
        own = ocrbench(Cases([case["said"] for case in part], [case["reference"] for case in part])).scores
        if own.keys() != wanted.keys() or any(abs(own[key] - wanted[key]) > _NEAR for key in wanted):
            wrong += 1
            print(f"DIFFERENT {own} / {wanted}")
    print(f"{len(cases) - wrong} of {len(cases)} equal, {len(parts)} whole evaluations compared; {dict(counts)}")
    if options.record:
        kept = [{**case, "score": answer} for case, answer in zip(cases, answers["single"], strict=True)]
        kept = [case for case in kept if not isinstance(case["score"], dict)]
        lines = "".join(json.dumps(case, ensure_ascii=False) + "\n" for case in [*kept, {"whole": answers["whole"]}])
        options.record.write_bytes(gzip.compress(lines.encode(), mtime=0))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
