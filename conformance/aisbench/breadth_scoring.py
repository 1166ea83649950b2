"""Compares more evaluators and post-processors of single exams with OpenCompass' own classes and functions.

Usage: ``python -m conformance.aisbench.breadth_scoring``, with the environments of ``scoring.py``; upstream's side also
needs ``rdkit``. Programs run on both sides.
"""
# ruff: noqa: E501, RUF001 - lists of cases

from __future__ import annotations

import argparse
import json
import random
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.aisbench import scoring
from conformance.aisbench.scoring_cases import OC, processor, texts

from proctor.settings import settings

Case = dict[str, Any]
_SAID = (
    "The answer is ", "the correct answer is: (", "ANSWER: ", "Answer: $\\boxed{", "The best option is $\\boxed{", "**", "(", "答案：", "最终答案是 ",
    "The final answer is ", "", "\\text{", "I think ", '"Choice": "Model ', "boxed{",
)  # fmt: skip
_ENDS = ("", ".", ")", "}$", "}", ": because", "**", "\n", "\nQuestion: next", " 3", '"}', ", B", "\n(B)", "\nC")


def _letter(draw: random.Random, letters: str = "ABCDEFGHIJ") -> str:
    return draw.choice(_SAID) + draw.choice(letters) + draw.choice(_ENDS)


def cases(draw: random.Random, size: int = 60, rounds: int = 4) -> Iterator[Case]:
    """Yield evaluators with answers."""
    for _ in range(rounds):
        yield from _lettered(draw, size)
        yield from _words(draw, size)
        yield from _chemistry(draw, size)
        yield from _reasoner(draw, size)


def _case(
    module: str,
    kind: str,
    predictions: list[Any],
    references: list[Any],
    rows: list[Case] | None = None,
    **arguments: Any,
) -> Case:
    filled = rows or [{"subdivision": "s", "idx": i} for i in range(len(predictions))]
    return {
        "project": OC, "module": module, "type": kind, "predictions": predictions, "references": references, "rows": filled,
        "arguments": arguments, "k": None, "n": 1, "alone": True,
    }  # fmt: skip


def _lettered(draw: random.Random, size: int) -> Iterator[Case]:
    said = [_letter(draw) for _ in range(size)]
    golds = [draw.choice("ABCD") for _ in range(size)]
    words = ["a cat", "a (dog)", "3.5", "x = 2", "the sun"]
    for mode in ("zero-shot", "five-shot"):
        rows = [{"options": words, "prompt_mode": mode, "answer_letter": gold, "answer": "x", "discipline": "d", "field": "f", "subfield": "s",
                 "difficulty": draw.choice(["hard", "middle", "easy"])} for gold in golds]  # fmt: skip
        mixed = [
            draw.choice(
                [text, f"The answer is {draw.choice(words)}.", f"Answer {draw.choice(words)}", draw.choice(words)]
            )
            for text in said
        ]
        yield _case("datasets.supergpqa.supergpqa", "SuperGPQAEvaluator", mixed, golds, rows)
    named = [text + " A" for text in said]
    rows = [{"options": words, "label": "A", "prompt_mode": "zero-shot"} for _ in golds]
    yield _case("datasets.MedXpertQA", "MedXpertQAEvaluator", named, golds, rows)
    yield _case("datasets.ProteinLMBench", "ProteinLMBenchEvaluator", said, golds, rows)
    rows = [{"choices": {"label": list("ABCD")}, "answerKey": "A", "prompt_mode": "zero-shot"} for _ in golds]
    yield _case("datasets.SciKnowEval", "SciKnowEvalEvaluator", named, golds, rows)
    yield _case(
        "openicl.icl_evaluator.icl_judge_evaluator", "JudgeEvaluator", said, [{"winner": gold} for gold in golds]
    )
    yield _case("datasets.zebralogic", "ZebraLogicMCEvaluator", said, golds)
    yield _case(
        "datasets.subjective.elbench",
        "ELBenchChoiceEvaluator",
        [text * draw.choice([1, 2]) for text in said],
        [draw.choice(["A", "A,C", "BD"]) for _ in golds],
    )
    free = [
        draw.choice(["The answer is ", "The final answer is: ", ""])
        + draw.choice(["a, b", "a,b", "\\boxed{a}", "**a**", "'a'", "\\text{a,b}", "(A)", "a\nb"])
        for _ in golds
    ]
    gold = [draw.choice(["a, b", "a", "'a'", "(A)", "A,B"]) for _ in golds]
    yield _case("datasets.bbeh", "BBEHEvaluator", free, gold)
    yield _case("datasets.bbeh", "BBEHEvaluator_mcq", free, gold)


def _words(draw: random.Random, size: int) -> Iterator[Case]:
    lists = [",".join(draw.sample("ABCD", draw.randint(1, 3))) for _ in range(size)]
    given = [draw.choice([each, each.lower(), "A", "A, B", "none"]) for each in lists]
    yield _case("datasets.SeedBench", "F1ScoreEvaluator", given, lists)
    blanks = [
        draw.choice(["水稻, 小麦", "正确答案：水稻", "the rice plant", "水稻的根系", "", "a,b,c"]) for _ in range(size)
    ]
    golds = [draw.choice(["水稻，小麦", "水稻的根", "rice plant", "a,b"]) for _ in range(size)]
    yield _case("datasets.SeedBench", "AverageRougeScoreEvaluator", blanks, golds)
    yield _case("datasets.SeedBench", "AccScoreStr_Evaluator", blanks, golds)
    steps = [
        draw.choice(["\\boxed{3}", "\\boxed{-1} and \\boxed{2}", "\\boxed{{-1}}", "boxed{x}", "none", "\\boxed{-1}"])
        for _ in range(size)
    ]
    yield _case(
        "datasets.ProcessBench", "ProcessBenchEvaluator", steps, [draw.choice([-1, -1, 3, 2, "2"]) for _ in range(size)]
    )
    for experiment in ("exp_updates", "exp_keys", "exp_valuelength"):
        rows = [{"experiment": experiment, "n_updates": draw.choice([1, 2, 4, 20, 125, 400])} for _ in range(size)]
        gold = [json.dumps({"cat": "blue", "dog": "red sky"}) for _ in range(size)]
        lines = (
            "The current value of cat is blue.",
            "cat: blue",
            "**dog**: [red sky]",
            "the most recent value for the key dog was 'red sky',",
            "dog: green",
            "an error",
            "Error: x",
            "",
        )
        answers = ["\n".join(draw.choice(lines) for _ in range(draw.randint(1, 4))) for _ in range(size)]
        yield _case("openicl.icl_evaluator.pi_llm_evaluator", "PILLMEvaluator", answers, gold, rows)
    tables = [
        "| House | Name |\n|---|---|\n| 1 | Ann |\n| 2 | Bob |",
        "| 1 | ann |\n| 2 | Eve |",
        "House 1 has Ann",
        "| 1 | Bob |",
        "",
    ]
    gold = [
        "{'header': ['House', 'Name'], 'rows': [['1', 'Ann'], ['2', 'Bob']]}",
        '{"rows": [["1", "Ann"]], "x": null}',
    ]
    yield _case(
        "datasets.zebralogic",
        "ZebraLogicGridEvaluator",
        [draw.choice(tables) for _ in range(size)],
        [draw.choice(gold) for _ in range(size)],
    )
    formulas = ["\\frac12", "\\frac{1}{2}", "0.5", "1/2", "x_{2}", "x_2", "10,800", "10800", "\\text{ cm}", "3\\text{ cm}", "a = 3", "x = 3", "3", "x \\in [1,2]", "[1,2]",
                "\\sqrt2", "\\sqrt{2}", None, "(1,2)", "50\\%", "50", ".5", "\\left(1\\right)"]  # fmt: skip
    yield _case(
        "datasets.math_intern",
        "MATHInternEvaluator",
        [draw.choice(formulas) for _ in range(size)],
        [draw.choice(formulas) for _ in range(size)],
    )
    boxed = [f"\\boxed{{{each}}}" if draw.random() < 0.5 else str(each) for each in draw.choices(formulas, k=size)]
    yield _case(
        "datasets.subjective.elbench", "ELBenchMathEvaluator", boxed, [str(draw.choice(formulas)) for _ in range(size)]
    )


def _chemistry(draw: random.Random, size: int) -> Iterator[Case]:
    marks = ("MOLFORMULA", "SMILES", "IUPAC")
    molecules = [
        "C6H12O6",
        "C6H6",
        "H2O",
        "C2H5OH",
        "NaCl",
        "Fe+3",
        "OH-",
        "CH4",
        "c1ccccc1",
        "CCO",
        "h2",
        "C(C)O",
        "OCC",
        "CC(=O)O",
        "not one",
        "",
    ]

    def marked() -> str:
        name, molecule = draw.choice(marks), draw.choice(molecules)
        return draw.choice(
            [
                f"<{name}> {molecule} </{name}>",
                molecule,
                f"so <{name}>{molecule}</{name}> or <SMILES>CCO</SMILES>",
                f"reactants and reagents are:\n```\n{molecule}\n```",
            ]
        )

    golds = [f"<SMILES> {draw.choice(['CCO', 'C6H6', 'OH-', 'CC'])} </SMILES>" for _ in range(size)]
    said = [marked() for _ in range(size)]
    for kind in ("NCExactMatchEvaluator", "NCElementMatchEvaluator", "FTSEvaluator"):
        yield _case("datasets.smolinstruct", kind, said, golds)
    yield _case("datasets.smolinstruct", "NCElementMatchEvaluator", [[marked(), marked()] for _ in range(size)], golds)
    words = [
        "Answer: 3.5",
        "about 1.2e-1 eV",
        "LiFePO4 has 2.5 eV",
        "-3",
        "25",
        "none",
        "Fe2O3: answer: 0.7",
        "answer: true",
        "Answer: False",
        "It is not a metal",
        "yes it is",
        "it has",
    ]
    numbers = [draw.choice(words) for _ in range(size)]
    yield _case(
        "datasets.matbench.matbench",
        "MatbenchEvaluator_regression",
        numbers,
        [draw.choice([1, 2.5, "3"]) for _ in range(size)],
    )
    for kind in ("classification", "classification_glass"):
        yield _case(
            "datasets.matbench.matbench",
            f"MatbenchEvaluator_{kind}",
            numbers,
            [draw.choice([True, False]) for _ in range(size)],
        )


def _reasoner(draw: random.Random, size: int) -> Iterator[Case]:
    signs = ("positive", "Negative", "", "none", "negative ")
    yield _case(
        "datasets.SciReasoner.GUE",
        "GUE_Evaluator",
        draw.choices(signs, k=size),
        draw.choices(("positive", "Negative"), k=size),
    )
    # not its errors of numbers: upstream computes them with an argument that scikit-learn has no more
    sides = draw.choices(("Direct", "Indirect", "", "x"), k=size)
    yield _case(
        "datasets.SciReasoner.LLM4Mat", "LLM4Mat_Evaluator", sides, draw.choices(("Direct", "Indirect", "Null"), k=size)
    )
    yield _case(
        "datasets.SciReasoner.LLM4Mat",
        "LLM4Mat_Evaluator",
        draw.choices(("True", "False", ""), k=size),
        draw.choices(("True", "False"), k=size),
    )


def programs() -> Iterator[Case]:
    """Yield the evaluators that run programs."""
    rows = [{"code": "def f(x):\n    return x + 1", "input": "3", "output": "4"} for _ in range(6)]
    yield _case("datasets.cruxeval", "CRUXEvalOEvaluator", ["4", "5", "f(3)", "2 + 2", "4 4", "f (3)"], ["4"] * 6, rows)
    yield _case("datasets.cruxeval", "CRUXEvalOEvaluator", [["5", "4"], ["f(3)"], ["5"]], ["4"] * 3, rows[:3])


PROCESSORS: tuple[tuple[str, str], ...] = (
    ("datasets.cruxeval", "cruxeval_o_postprocess"),
    ("datasets.SeedBench", "my_multiple_select_postprocess"),
    ("datasets.arxivrollbench", "arxivrollbench_selection_postprocess"),
    ("datasets.arxivrollbench", "arxivrollbench_choice_postprocess"),
    ("datasets.smolinstruct", "smolinstruct_acc_postprocess"),
    ("datasets.math_intern", "math_intern_postprocess"),
    ("datasets.humaneval", "humaneval_internal_v1_postprocess"),
    ("datasets.SciReasoner.GUE", "GUE_postprocessor"),
)
_PIECES = ("Selection 2", "# done", "3", "b", "D)", "yes", "No way", "\n\nQuestion:", "The answer is", "The answer is:", "#### 5", "# Answer 7", "\\boxed{a{b}c}",
           "The final answer is $3$. ", "{{2}}", "x", "\n", "。", ".", "```python\n", "```", "def f(x):\n", "    return 1\n", "  y = 2\n", "import os\n",
           "from a import b\n", "# note\n", "'abc'", "\n\n", " z", "<think>", "</think>", "The prediction result is Positive.", "it is not", "shows clear", "yep",
           '{"gap": 2.5}', "{'gap': '3'}", '{"is_stable": true}', "{is_stable: yes}", '{"Direct_or_indirect": "direct"}', "```json", '"answers": ["\\alpha"]}')  # fmt: skip


def processors() -> list[Case]:
    """Return the post-processors."""
    names = [processor(OC, module, name, alone=True) for module, name in PROCESSORS]
    module, name = "datasets.SciReasoner.LLM4Mat", "LLM4Mat_postprocessor"
    kinds = ("Direct_or_indirect", "is_stable", "gap")
    names += [processor(OC, module, name, alone=True, property=kind) for kind in kinds]
    return names


def texts_of(draw: random.Random, count: int = 3000) -> list[str]:
    """Return answers."""
    own = ["".join(draw.choice(_PIECES) for _ in range(draw.randint(0, 5))) for _ in range(count)]
    return [*own, *texts(draw, count // 6), string.printable]


def main() -> int:
    """Compare, print, and return 0 where nothing differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path(tempfile.mkdtemp()))
    options = parser.parse_args()
    draw = random.Random(7)
    asked = {
        "texts": texts_of(draw),
        "processors": processors(),
        "evaluators": scoring.with_batches([*cases(draw), *programs()]),
        "summaries": [],
    }
    file, out = options.work / "cases.json", options.work / "answers.json"
    file.write_text(json.dumps(asked))
    oracle = Path(__file__).with_name("scoring_oracle.py")
    command = [scoring.PYTHON, str(oracle), str(file), str(out), scoring.WHEEL, str(options.work)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wanted = json.loads(out.read_text())
    with settings.context(trust_code=True):
        different = scoring.compare_processors(asked, wanted["processors"])
        return int(different + scoring.compare_evaluators(asked, wanted["evaluators"]) > 0)


if __name__ == "__main__":
    sys.exit(main())
