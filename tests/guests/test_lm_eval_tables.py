"""Tables of results are those that lm-eval 0.4.13 writes; a program goes on after ``cli_evaluate``."""

from __future__ import annotations

from typing import Any

import pytest
import tests_warm

from proctor.guests.lm_eval.tables import table_of_results


def table(**rows: dict[str, Any]) -> list[str]:
    results = {
        "results": {name: {"alias": name, **row} for name, row in rows.items()},
        "versions": dict.fromkeys(rows, 1.0),
        "n-shot": dict.fromkeys(rows, 0),
        "higher_is_better": {name: {"acc": True} for name in rows},
    }
    return table_of_results(results, "results").splitlines()


def scores(acc: float, error: Any = None) -> dict[str, Any]:
    return {"acc,none": acc} if error is None else {"acc,none": acc, "acc_stderr,none": error}


@pytest.mark.parametrize(
    "rows, lines",
    [
        ([(1.0, 0.0)], ["|a    |      1|none  |     0|acc   |↑  |    1|±  |     0|"]),
        ([(0.0, "N/A")], ["|a    |      1|none  |     0|acc   |↑  |    0|±  |   N/A|"]),
        (
            [(1.0, 0.0), (0.5, 0.25)],
            [
                "|a    |      1|none  |     0|acc   |↑  |  1.0|±  |  0.00|",
                "|b    |      1|none  |     0|acc   |↑  |  0.5|±  |  0.25|",
            ],
        ),
        (
            [(0.1234567, 0.2), (123.5, "N/A")],
            [
                "|a    |      1|none  |     0|acc   |↑  |  0.1235|±  |   0.2|",
                "|b    |      1|none  |     0|acc   |↑  |123.5000|±  |   N/A|",
            ],
        ),
        (
            [(0.25, None), (0.5, None)],
            [
                "|a    |      1|none  |     0|acc   |↑  | 0.25|   |      |",
                "|b    |      1|none  |     0|acc   |↑  | 0.50|   |      |",
            ],
        ),
        (
            [(float("nan"), float("nan")), (1.0, 0.0)],
            [
                "|a    |      1|none  |     0|acc   |↑  |  NaN|±  |   NaN|",
                "|b    |      1|none  |     0|acc   |↑  |    1|±  |     0|",
            ],
        ),
    ],
)
def test_numbers_have_the_decimals_that_a_column_needs(rows, lines):
    made = table(**{name: scores(*row) for name, row in zip("ab", rows, strict=False)})
    assert made[2:] == lines
    assert made[1].startswith("|-----|------:|------|-----:|------|---|")


PROGRAM = """
import json, sys
from pathlib import Path
from lm_eval.__main__ import cli_evaluate
Path("rows.jsonl").write_text(json.dumps({"q": "1+1", "a": "2"}))
Path("t.yaml").write_text('task: t\\ndataset_path: json\\ndataset_kwargs: {data_files: {test: rows.jsonl}}\\n'
    'test_split: test\\noutput_type: generate_until\\ndoc_to_text: "{{q}}"\\ndoc_to_target: "{{a}}"\\n')
sys.argv = ["eval", "--model", "dummy", "--tasks", "t", "--include_path", ".", "--output_path", "out"]
cli_evaluate()
(file,) = Path("out").glob("*/results_*.json")
print("went on", json.loads(file.read_text())["results"]["t"]["sample_len"])
"""


def test_a_program_goes_on_after_its_evaluation_and_finds_files_of_lm_eval(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    made = tests_warm.python("-m", "proctor.compat", "program.py", cwd=tmp_path)
    assert made.stdout.splitlines()[-1] == "went on 1", made.stderr
