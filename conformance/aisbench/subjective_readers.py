"""Compares readers of subjective judgements with OpenCompass' own functions.

Usage: ``python -m conformance.aisbench.subjective_readers``. Needs AISBench's environment (``AISBENCH_PYTHON``) and an
unzipped wheel of OpenCompass (``OPENCOMPASS_WHEEL``).
"""
# ruff: noqa: RUF001, E501 - replies are easier to compare on a line

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proctor.scoring.evaluators.pair_readers import CANDIDATE, OTHER, PAIR_READERS, Judged
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_REPORTS

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
WHEEL = os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc")  # noqa: S108
MODULES = {
    "alignbench": "alignbench", "fofo": "fofo", "writingbench": "writingbench", "mtbench101": "mtbench101", "mtbench": "mtbench",
    "compassarena_subjectiveeval_pointwise": "compass_arena_subjective_bench", "elbench_safety": "elbench",
    "elbench_highlevel_edu": "elbench", "followbench": "followbench", "hellobench": "hellobench", "compassarena": "compass_arena",
    "compassarena_subjectiveeval_pairwise": "compass_arena_subjective_bench",
}  # fmt: skip
_PIECES = (
    "[[5]]", "[[ 7 ]]", "[3]", "[[11]]", "[[0]]", "[[1]]", "Rating: [[6.5]]", "Rating:[[3]]", "Rating: [[1.2.3]]", "[[4分]]", "[[5分]]", "评分：1", 'score": 0',
    "{'format_correctness': 1}", '"format_correctness": 0', "'format_correctness': 10", '{"score": 9}', "'score': 3", "YES", "NO", "\n", "```", " ",
    "['YES', 'NO']", "['YES', 'True', 'PARTIAL']", "['YES', 'YES']", "[YES]", "['MAYBE']", "['N/A', 'bad']", "选择：A", "选择：B", "选择：C", "Choice: A", "Choice: B",
    "Choice: C", "[[A>B]]", "[[A>>B]]", "[[B>A]]", "[[B<<A]]", "[[A=B]]", "[[A<B]]", "[[x]]",
    "{'事实正确性': 8, '满足用户需求': 6, '综合得分': 7}", "{'清晰度': 3}", "{'综合得分': 11}", "{'怪': 1, '综合得分': 3}", "{}",
    "事实正确性: 8\n满足用户需求 7\n清晰度 6 分\n完备性: 5\n综合 7", "事实正确性: 8\n满足用户需求 7\n逻辑连贯性 6 分\n完备性: 5\n综合 9", "创造性 5\n丰富度 4\n", "",
)  # fmt: skip


def _hello(draw: random.Random) -> str:
    listed = [{"checklist_id": i, "reason": "r", "evaluation_score": draw.choice([0, 0.5, 1, "0.25", 2])} for i in range(draw.choice([7, 7, 7, 6]))]  # fmt: skip
    text = json.dumps(listed)
    return draw.choice([text, f"```json\n{text}\n```", text[:-3]])


def cases(seed: int = 3, count: int = 120) -> Iterator[dict[str, Any]]:
    """Yield readers with judgements; levels of FollowBench are complete, as in its data."""
    draw = random.Random(seed)
    for name, module in MODULES.items():
        for case in range(8):
            many = count if case else 5
            said = ["".join(draw.choice(_PIECES) for _ in range(draw.randint(1, 3))) for _ in range(many)]
            if name == "hellobench":
                said = [_hello(draw) for _ in range(many)]
            golds = [_gold(name, i, many, draw) for i in range(many)]
            arguments = (
                [{}, {"summary_type": "half_add"}, {"check_pos_bias": False}][case % 3]
                if name == "compassarena"
                else {}
            )
            yield {
                "module": module,
                "reader": f"{name}_postprocess",
                "said": said,
                "golds": golds,
                "arguments": arguments,
            }


def _gold(name: str, place: int, many: int, draw: random.Random) -> dict[str, Any]:
    first = place < (many + 1) // 2  # the second half is the other way round
    return {
        "capability": draw.choice(["数学计算", "基本任务", "文本写作", "x"]), "domain": f"d{draw.randint(0, 2)}", "format": f"f{draw.randint(0, 2)}",
        "format_type": draw.choice(["general", "special"]), "domain1": f"w{draw.randint(0, 2)}", "task": draw.choice(["安全回答", "CM", "SI"]),
        "multi_id": draw.randint(0, 9), "category": draw.choice(["重写", "代码"]), "difficulty": draw.choice(["easy", "hard"]), "level": place % 5 + 1,
        "subcategory": "chemistry" if name == "hellobench" and draw.random() < 0 else "music", "num_checklist": 7,
        "question": f"q{place % ((many + 1) // 2)}", "answer1": "base" if first else "mine", "answer2": "mine" if first else "base",
    }  # fmt: skip


def ours(case: dict[str, Any]) -> dict[str, float]:
    """Return our scores of a case."""
    if (reader := PAIR_READERS.get(case["reader"])) is None:
        return SUBJECTIVE_REPORTS[case["reader"]](case["said"], [{}] * len(case["said"]), case["golds"]).scores
    judged = [
        Judged(said, OTHER if gold["answer1"] == "base" else CANDIDATE, gold)
        for said, gold in zip(case["said"], case["golds"], strict=True)
    ]
    read = [(each, points) for each in judged if (points := reader.points(each)) is not None]
    return reader.with_arguments(case["arguments"]).scores(read) if read else {}


def _is_explained(mine: dict[str, float], theirs: dict[str, Any]) -> bool:
    """Whether upstream fails, or scores judgements of which none can be read: that is an error here, and no zero."""
    return "error" in theirs or (not mine and not any(theirs.values()))


def main() -> int:
    """Compare, print, and return 0 where nothing differs."""
    made = list(cases())
    with tempfile.TemporaryDirectory() as folder:
        asked, answers = Path(folder) / "cases.json", Path(folder) / "answers.json"
        asked.write_text(json.dumps(made))
        oracle = Path(__file__).with_name("subjective_readers_oracle.py")
        subprocess.run([PYTHON, str(oracle), str(asked), str(answers), WHEEL], check=True)
        wanted = json.loads(answers.read_text())
    different = 0
    for case, theirs in zip(made, wanted, strict=True):
        mine = ours(case)
        if mine != theirs and not _is_explained(mine, theirs):
            different += 1
            print(f"DIFFERENT {case['reader']} {case['arguments']}\n    {mine}\n    {theirs}")
    print(f"{len(made) - different} of {len(made)} equal ({sum(len(case['said']) for case in made)} judgements)")
    return int(different > 0)


if __name__ == "__main__":
    sys.exit(main())
