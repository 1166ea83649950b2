"""Compares the evaluators of single exams with upstream's: long texts, Chinese exams, programs, instructions.

Usage: ``python -m conformance.aisbench.more_scoring [--work DIR]``, with the environments of ``scoring.py``; upstream's
side also needs the packages ``rouge``, ``Levenshtein`` and ``langdetect`` on its path. Programs run on both sides.
"""
# ruff: noqa: C901, E501, PLR0915, RUF001 - lists of cases

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from conformance.aisbench import scoring
from conformance.aisbench.scoring_cases import AIS, OC, texts

from proctor.settings import settings

_WORDS = [
    "the",
    "cat",
    "sat",
    "on",
    "a",
    "mat",
    "and",
    "it",
    "was",
    "very",
    "happy",
    "about",
    "what",
    "they",
    "had",
    "done",
    "today",
    ".",
    "北京",
    "天气",
    "很好",
    "是",
    "的",
    "在",
    "answer",
    "keyword",
    "3",
    "12",
    "True",
]
_LETTERS = "ABCD"


def cases(stream: random.Random) -> list[dict[str, Any]]:
    """Return all cases."""
    made: list[dict[str, Any]] = []
    text = lambda least=1, most=14: " ".join(stream.choice(_WORDS) for _ in range(stream.randint(least, most)))  # noqa: E731
    drawn = texts(stream, 400)

    def case(
        module: str, kind: str, predictions: list[Any], references: list[Any], project: str = OC, **more: Any
    ) -> None:
        rows = more.pop("rows", None) or [{"subdivision": "s", "idx": i} for i in range(len(predictions))]
        made.append({"project": project, "module": module, "type": kind, "predictions": predictions, "references": references, "rows": rows,
                     "arguments": more, "k": None, "n": 1, "alone": project == OC})  # fmt: skip

    for size in (1, 30):
        near = [text() for _ in range(size)]
        gold = [f"\n{given if stream.random() < 0.5 else text()}\n*{stream.choice(_WORDS)}" for given in near]
        case("datasets.needlebench.origin", "NeedleBenchOriginEvaluator", near, gold)
        case("datasets.needlebench.origin", "NeedleBenchOriginEvaluator", near, gold, use_trim=True)
        case("datasets.needlebench_v2.origin", "NeedleBenchOriginEvaluator", near, gold)
        keys = [f"{stream.choice(_WORDS)}*{stream.choice(_WORDS)}#10*50" for _ in near]
        for version in ("needlebench", "needlebench_v2"):
            case(f"datasets.{version}.parallel", "NeedleBenchParallelEvaluator", near, keys)
        case("datasets.needlebench.multi", "NeedleBenchMultiEvaluator", near, [f"x*{text()}" for _ in near])
        case(
            "datasets.needlebench_v2.atc_elder_only",
            "NeedleBenchATCEvaluator",
            [f" {each} " for each in near],
            [each if stream.random() < 0.5 else "x" for each in near],
        )
        several = [[stream.choice(_WORDS) for _ in range(stream.randint(1, 4))] for _ in near]
        for name in ("cwe", "fwe", "niah", "vt", "qa"):
            case(f"datasets.ruler.ruler_{name}", f"Ruler{name.capitalize()}Evaluator", near, several)
        case("datasets.babilong.babilong", "BabiLongEvaluator", near, [[stream.choice(_WORDS)] for _ in near])
        case(
            "datasets.mrcr",
            "MRCREvaluator",
            [f"{stream.choice(['h1', ''])}{each}" for each in near],
            [json.dumps({"answer": f"h1{text()}", "prefix": "h1"}) for _ in near],
        )
        lists = [[text(), text(), text(1, 3)] for _ in near]
        for language in ("en", "zh"):
            for project, module in ((OC, "datasets.longbench.evaluators"), (AIS, "datasets.longbench.evaluators")):
                case(module, "LongBenchRougeEvaluator", near, lists, project, language=language)
            for kind in ("F1", "OPTF1", "OPTRouge"):
                case("datasets.lveval.evaluators", f"LVEval{kind}Evaluator", near, lists, language=language)
        for project in (OC, AIS):
            case(
                "datasets.longbench.evaluators",
                "LongBenchCodeSimEvaluator",
                [f"# x\n{each}\n`y`" for each in near],
                lists,
                project,
            )
            rows = [
                {"difficulty": stream.choice(["easy", "hard"]), "length": stream.choice(["short", "medium", "long"])}
                for _ in near
            ]
            letters = [stream.choice(_LETTERS) for _ in near]
            case(
                "datasets.longbenchv2",
                "LongBenchv2Evaluator",
                letters,
                [stream.choice(_LETTERS) for _ in near],
                project,
                rows=rows,
            )
        case(
            "datasets.QuALITY",
            "QuALITYEvaluator",
            letters,
            ["A"] * size,
            rows=[{"difficult": i % 2} for i in range(size)],
        )
        case(
            "datasets.infinitebench.infinitebench_endia",
            "InfiniteBenchendiaEvaluator",
            near,
            [[stream.choice(_WORDS).upper()] for _ in near],
        )
        case(
            "datasets.infinitebench.infinitebench_retrievekv",
            "InfiniteBenchretrievekvEvaluator",
            near,
            [stream.choice(_WORDS) for _ in near],
        )
        case(
            "datasets.infinitebench.infinitebench_mathcalc",
            "InfiniteBenchmathcalcEvaluator",
            [f"{stream.choice([3, 4])}, 5 x {stream.choice([6, 7])}" for _ in near],
            [[3, 5, 6]] * size,
        )
        case(
            "datasets.advglue", "AccDropEvaluator", [*letters, *letters], [*letters[:1], *["A"] * (size - 1), *letters]
        )
        case(
            "datasets.musr.musr",
            "MusrEvaluator",
            [f"x\nANSWER: ({stream.choice([1, 2])}) y" if stream.random() < 0.8 else text() for _ in near],
            [stream.choice([1, 2]) for _ in near],
        )
        case(
            "datasets.crowspairs",
            "CrowspairsEvaluator",
            ["A", *(stream.choice(["A", "B", "invalid"]) for _ in near[1:])],
            ["A"] * size,
        )
        case("datasets.charm", "CharmReasonEvaluator", letters, ["A"] * size)
        case(
            "datasets.math401",
            "Math401Evaluator",
            [stream.choice(["3", "3.0004", "x", "4"]) for _ in near],
            ["3"] * size,
        )
        case("datasets.mastermath2024v1", "MastermathDatasetv1Evaluator", letters, ["A"] * size)
        case(
            "datasets.natural_question_cn",
            "NQEvaluatorCN",
            [f"答案是：{stream.choice(_WORDS)}\nx" for _ in near],
            lists,
        )
        case("datasets.squad20", "SQuAD20Evaluator", [f"The answer is {stream.choice(_WORDS)}." for _ in near], several)
        case(
            "datasets.OpenFinData",
            "OpenFinDataKWEvaluator",
            near,
            [f"{stream.choice(_WORDS)}、{stream.choice(_WORDS)}" for _ in near],
        )
        case("datasets.s3eval", "S3EvalEvaluator", [*(f"a|b\n--\n|{stream.choice('xy')}|{stream.choice('xy')}|\n" for _ in near), *near, *["x, y,z"] * size, *["3.0"] * size],
             [*["a|b\n--\n|x|y|\n"] * size, *[text() for _ in near], *["x,q"] * size, *[stream.choice(["3", "4"]) for _ in near]])  # fmt: skip
        grids = [stream.choice(["so [[1, 2], [3, 4]] ok", "[[1, 2], [3]]", "[[1,", "none", "[[1, 'a']]"]) for _ in near]
        case("datasets.arc_prize_public_evaluation", "ARCPrizeEvaluator", grids, [[[1, 2], [3, 4]]] * size)
        case(
            "datasets.smolinstruct",
            "RMSEEvaluator",
            [stream.choice(["<NUMBER> 3.5 </NUMBER>", "\\boxed{-2}", "none"]) for _ in near],
            ["<NUMBER>1</NUMBER>"] * size,
        )
        case(
            "datasets.mol_instructions_chem",
            "MAEEvaluator",
            [stream.choice(["<NUMBER> 3.5 </NUMBER> \\boxed{2}", "none"]) for _ in near],
            ["1.5"] * size,
        )
        case(
            "datasets.OpenSWI",
            "OpenSWIMSEEvaluator",
            [stream.choice(["[1.0, 2.0]", "[1.0]", "x", "[1.0, 2.0, 3.0]", "[1, 'a']"]) for _ in near],
            [[1.5, 2.5]] * size,
        )
        case(
            "datasets.agieval.agieval",
            "AGIEvalEvaluator",
            [
                stream.choice(
                    ["so $x=5$", "\\boxed{\\frac12}", "x = 5.", "it is 5", "答案是 5", "none", "\\boxed{0.5}"]
                )
                for _ in near
            ],
            [stream.choice(["5", "\\frac{1}{2}", "0.5"]) for _ in near],
        )
        table = [
            {
                "answer": stream.choice(["$1,000", "3/4", "cat", "5"]),
                "unit": stream.choice([None, "$"]),
                "choices": stream.choice([None, ["cat", "a dog"]]),
            }
            for _ in near
        ]
        said = [
            stream.choice(
                ["The answer is (B) a dog", "A", "The answer is 1000", "it is 0.75.", "= 5", "(H) x", "cat", "so a dog"]
            )
            for _ in near
        ]
        case("datasets.tabmwp", "TabMWPEvaluator", said, table)
        option_rows = [
            {
                "options": ["x"] * 5,
                "label": "A",
                "prompt_mode": "zero-shot",
                "question_type": "q",
                "Subject": "s",
                "subject_name": "s",
                "topic_name": "t",
                "choice_type": "c",
            }
            for _ in near
        ]
        spoken = [
            stream.choice(["I understand. B", "A through D: (C)", "The answer is A.", "E", "F", "ABC"]) for _ in near
        ]
        for module, kind in (("Medbullets", "Medbullets"), ("medmcqa", "Medmcqa"), ("nejmaibench", "Nejmaibench")):
            case(
                f"datasets.{module}",
                f"{kind}Evaluator",
                spoken,
                [stream.choice(_LETTERS) for _ in near],
                rows=option_rows,
            )
        exam = [
            stream.choice(
                ["【答案】A", "选 B 和 C", "【答案】：A 【答案】B", "ABCDE", "", "【答案】AB。", "【答案】x y"]
            )
            for _ in near
        ]
        for kind, refs in (
            ("single_choice", [["A"]]),
            ("multi_choice", [["AB"]]),
            ("multi_question_choice", [["A", "B"]]),
            ("five_out_of_seven", [list("ABCDE")]),
            ("cloze", [["x"]]),
        ):
            case("datasets.GaokaoBench", "GaokaoBenchEvaluator", exam, refs * size, question_type=kind)
            if kind in ("single_choice", "multi_choice", "cloze"):
                case(
                    "datasets.kaoshi",
                    "KaoshiEvaluator",
                    exam,
                    (["x"] if kind == "cloze" else refs) * size,
                    question_type=kind,
                )
        named = [
            [
                stream.choice(
                    ['{"answer": "B"}', "The answer is C", "la réponse est d", "none", "答案是 A。", "'answer': 'D'"]
                ),
                stream.choice(["en", "fr", "zh"]),
            ]
            for _ in near
        ]
        for module, kind, refs in (
            ("mhellaswag", "MHellaswag", [0, 1, 2]),
            ("mlogiqa", "MLogiQA", [1, 2]),
            ("mmmlu", "MMMLU", ["A", "B"]),
            ("xnli", "XNLI", ["C", "D"]),
        ):
            codes = {"en": "EN-US", "fr": "FR-FR", "zh": "ZH-CN"}
            said = [[each, codes[code] if kind == "MMMLU" else code] for each, code in named]
            case(f"datasets.PMMEval.{module}", f"PMMEval{kind}Evaluator", said, [stream.choice(refs) for _ in near])
        case(
            "datasets.PMMEval.mgsm",
            "PMMEvalMGSMEvaluator",
            [stream.choice(["so 1,000.", "-3.5", "none", "5 or +7", "7."]) for _ in near],
            [stream.choice(["1,000", "7", "-3.5"]) for _ in near],
        )
        case(
            "datasets.PMMEval.flores",
            "PMMEvalFloresEvaluator",
            [[f"{text()}\n{text()}", stream.choice(["English", "Chinese", "Thai"])] for _ in near],
            [text() for _ in near],
        )
    _programs(case, stream)
    _instructions(case, stream, drawn)
    return made


def _programs(case: Any, stream: random.Random) -> None:
    bodies = [
        "def f(x):\n    return x + 1",
        "def f(x):\n    return x",
        "def f(x):\n    return float(x + 1)",
        "def f(x) return",
        "def f(x):\n    raise ValueError",
    ]
    frames = [
        "{}",
        "[BEGIN]\n '{}' \n[DONE]",
        "```python\n{}\n```",
        "BEGIN {} [DONE] x",
        "```\n{}\n```\nmore",
        "Here is it\n{}\n# Test\nassert 1",
    ]
    answers = [stream.choice(frames).format(stream.choice(bodies)) for _ in range(30)]
    tests = "assert f(1) == 2\nassert f(2) == 3"
    for project in (OC, AIS):
        case("datasets.mbpp", "MBPPEvaluator", answers, [tests] * 30, project)
        several = [[stream.choice(answers) for _ in range(3)] for _ in range(8)]
        columns = [{"test_list_2": tests, "task_id": i} for i in range(8)]
        case("datasets.mbpp", "MBPPPassKEvaluator", several, columns, project, k=[1, 3])
    case("datasets.mbpp", "MBPPEvaluator2", answers, [tests] * 30)
    solutions = [*answers[:8], "```python\nclass Solution:\n    def f(self, x):\n        return x + 1\n```"]
    case(
        "datasets.LCBench", "LCPassKEvaluator", solutions, [{"test_list_2": tests, "task_id": i} for i in range(9)], k=1
    )


def _instructions(case: Any, stream: random.Random, drawn: list[str]) -> None:
    from proctor.data import hub

    rows = list(hub.rows(hub.Dataset("google/IFEval"), "train"))
    kept = [row for row in rows if "length_constraints:number_sentences" not in row["instruction_id_list"] and "change_case:capital_word_frequency" not in row["instruction_id_list"]
            and not any(len(str(each.get("letter") or "a")) != 1 or not str(each.get("letter") or "a").isalpha() for each in row["kwargs"])]  # fmt: skip
    gold = [
        {**row, "kwargs": [{k: v for k, v in each.items() if v is not None} for each in row["kwargs"]]} for row in kept
    ]
    answers = [_answer(stream, row, drawn) for row in kept]
    case("datasets.IFEval.ifeval", "IFEvaluator", answers, gold)
    case("datasets.ifeval.ifeval", "IFEvaluator", answers, gold, AIS)


def _answer(stream: random.Random, row: dict[str, Any], drawn: list[str]) -> str:
    """Return an answer that follows some instructions: keywords, bullets, titles, JSON, quotes, paragraphs."""
    words = [
        str(word)
        for each in row["kwargs"]
        for value in each.values()
        if value
        for word in (value if isinstance(value, list) else [value])
    ]
    parts = [stream.choice([" ".join(words), "* one\n* two\n- three", "<<title>>", "*high* and **bold**", "[a] [b] [c]", "P.S. x", "P.P.S y", "Section 1\nx\nSection 2\ny", "a\n***\nb",
                            "first ****** second", "My answer is no.", row["prompt"], "\n\nnew paragraph\n\n", *drawn[:30]]) for _ in range(stream.randint(1, 6))]  # fmt: skip
    text = "\n\n".join(parts)
    return stream.choice(
        [text, text.lower(), text.upper(), text.replace(",", ""), f'"{text}"', '```json\n{"a": 1}\n```']
    )


def main() -> int:
    """Print equal and different counts; the exit status says whether all are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "proctor_aisbench_more_scoring")
    work = parser.parse_args().work
    work.mkdir(parents=True, exist_ok=True)
    stream = random.Random(23)
    names = [
        {
            "project": OC,
            "module": "datasets.needlebench_v2.atc_elder_only",
            "function": "needlebench_atc_postprocess_v2",
            "alone": True,
            "arguments": {},
        }
    ]
    asked = {
        "texts": texts(stream, 3000),
        "processors": names,
        "evaluators": scoring.with_batches(cases(stream)),
        "summaries": [],
    }
    kept, answers = work / "cases.json", work / "answers.json"
    if not answers.is_file() or not kept.is_file() or kept.read_text() != json.dumps(asked):
        kept.write_text(json.dumps(asked))
        oracle = [
            scoring.PYTHON,
            str(Path(__file__).with_name("scoring_oracle.py")),
            str(kept),
            str(answers),
            scoring.WHEEL,
            str(work),
        ]
        subprocess.run(
            oracle, check=True, cwd=work, env={**os.environ, "HF_HUB_OFFLINE": "1"}, stdout=subprocess.DEVNULL
        )
    wanted = json.loads(answers.read_text())
    with settings.context(trust_code=True):
        different = scoring.compare_evaluators(asked, wanted["evaluators"])
        different += scoring.compare_processors(asked, wanted["processors"])
    for one, answer in zip(asked["evaluators"], wanted["evaluators"], strict=True):
        if "error" in answer:
            print(f"    upstream fails: {one['type']} {one['arguments']}: {answer['error'][:110]}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
