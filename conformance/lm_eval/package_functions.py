"""What code of tasks calls of lm_eval's package, with the same arguments on both sides.

Run ``python -m conformance.lm_eval.package_functions --lm-python ENV/bin/python``. ENV has lm_eval 0.4.13 installed.
Prints every call whose result differs; exits with 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = "proctor.dialects.lm_eval.package"
WORDS = (
    "do n't",
    "( a )",
    ' " quoted " ',
    "it 's , well .",
    "a=1,b=true,c=0.5,d=x",
    "Paris",
    "",
    "paris!",
    "12",
    "x y z",
)


def calls() -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield module, function, arguments and named arguments."""
    draw = random.Random(5)
    labels = ["yes", "no", "maybe"]
    for size in (3, 10, 60):
        pairs = [[draw.choice(labels), draw.choice(labels)] for _ in range(size)]
        binary = [[draw.randint(0, 1), draw.randint(0, 1)] for _ in range(size)]
        numbers = [draw.random() for _ in range(size)]
        weighted = [[-draw.random() * 20, draw.randint(1, 30)] for _ in range(size)]
        yield "utils", "weighted_f1_score", [pairs], {}
        yield "utils", "softmax", [numbers], {}
        for name in ("mean", "median", "nanmean", "pop_stddev", "sample_stddev", "mean_stderr", "perplexity"):
            yield "api.metrics", name, [numbers], {}
        for name in ("weighted_mean", "weighted_perplexity", "bits_per_byte"):
            yield "api.metrics", name, [weighted], {}
        for name in ("f1_score", "matthews_corrcoef"):
            yield "api.metrics", name, [binary], {}
        sizes = [draw.randint(5, 50) for _ in numbers]
        yield "api.metrics", "pooled_sample_stderr", [numbers, sizes], {}
        yield "api.metrics", "unweighted_mean_stderr", [numbers], {}
        yield "api.metrics", "combined_sample_stderr", [numbers, sizes, numbers[::-1]], {}
        for by_size in (True, False):
            yield "api.metrics", "aggregate_subtask_metrics", [numbers, sizes], {"weight_by_size": by_size}
        texts = [[draw.choice(WORDS) or "a b c d", "a b c d e"] for _ in range(size)]
        for name in ("bleu", "chrf", "ter"):
            yield "api.metrics", name, [texts], {}
    yield from _of_texts(draw)


def _of_texts(draw: random.Random) -> Iterator[tuple[str, str, list[Any], dict[str, Any]]]:
    """Yield calls about texts, questions and tokens."""
    for word in WORDS:
        for name in ("general_detokenize", "simple_parse_args_string", "hash_string", "handle_arg_string"):
            yield "utils", name, [word], {}
        yield "utils", "sanitize_model_name", [f"org/{word}:x"], {}
        yield "utils", "sanitize_task_name", [f"task-{word}"], {}
        yield "utils", "escaped_split", [word, ","], {}
        yield "utils", "apply_template", ["{{x}} and {{x|length}}\n", {"x": word}], {}
        yield "utils", "regex_replace", [word, "[aeiou]", "_"], {}
    for value in ("-3", "1e3", "'5'", "none", "TRUE", " 7 ", "a=b"):
        yield "utils", "handle_arg_string", [value], {}
    for given in (
        {},
        {"ignore_case": True},
        {"ignore_punctuation": True, "ignore_case": True},
        {"ignore_numbers": True},
    ):
        references = ["Paris", "12 a", "b", "x"]
        yield "api.metrics", "exact_match_hf_evaluate", [["paris", "a", "b!", "x"], references], given
    yield "api.metrics", "exact_match_hf_evaluate", [["a1", "b"], ["a", "b2"]], {"regexes_to_ignore": [r"\d"]}
    questions = [[draw.random() < 0.6, _idx(place // 3, place % 2, draw.randint(0, 1))] for place in range(24)]
    yield "api.metrics", "acc_all", [questions], {}
    yield "api.metrics", "acc_all_stderr", [questions], {}
    yield "utils", "pattern_match", [["a_*", "b"], ["a_1", "b", "c", "a_2"]], {}
    for place in range(1, 24, 4):
        tokens = list(range(100, 100 + place * 3))
        for length, context in ((10, 1), (10, 5), (7, 7)):
            yield "utils", "get_rolling_token_windows", [tokens, 9, length, context], {}
    yield "utils", "make_table", [_results()], {}


def _idx(paragraph: int, question: int, label: int) -> dict[str, Any]:
    return {"idx": {"paragraph": paragraph, "question": question}, "label": label}


def _results() -> dict[str, Any]:
    row = {"name": "b", "alias": "b", "sample_len": 4, "acc,none": 0.5, "acc_stderr,none": 0.25, "f1,none": "N/A"}
    group = {"alias": "g", "name": "g", "acc,none": 0.75, "acc_stderr,none": "N/A"}
    return {
        "results": {"b": row, "c": {**row, "alias": "c"}, "g": group},
        "group_subtasks": {"g": ["b", "c"]},
        "versions": {"b": 1.0, "c": "Yaml", "g": 2},
        "n-shot": {"b": 0, "c": 5},
        "higher_is_better": {"b": {"acc": True, "f1": None}, "c": {"acc": False}},
    }


def answers(prefix: str) -> list[Any]:
    """Return what each call gives, or the kind of error."""
    found = []
    for module, name, given, named in calls():
        place = f"{prefix}.{module.removeprefix('api.') if prefix == HERE else module}"
        try:
            value = getattr(import_module(place), name)(*given, **named)
            value = _cells(value) if name == "make_table" else value
            found.append(json.loads(json.dumps(list(value) if hasattr(value, "__next__") else value, default=_plain)))
        except Exception as error:  # noqa: BLE001 - the kind of error is what is compared
            found.append(f"error: {type(error).__name__}")
    return found


def _cells(table: str) -> list[list[Any]]:
    """Return a table without its layout: lm-eval's library writes 0.7500 as 0.75 where a column allows it."""
    rows = [line.strip("|").split("|") for line in table.splitlines() if not line.startswith("|--")]
    return [[_number(cell.strip()) for cell in row] for row in rows]


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def same(one: Any, other: Any) -> bool:
    """Whether two results are equal, numbers to twelve digits."""
    if isinstance(one, float) or isinstance(other, float):
        numbers = isinstance(one, int | float) and isinstance(other, int | float)
        return numbers and abs(one - other) <= 1e-12 * max(1.0, abs(one))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def main() -> None:
    """Call on both sides and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm-python", default="/tmp/lmvenv/bin/python")  # noqa: S108 - a default to try
    parser.add_argument("--lm-side", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.lm_side:
        Path(arguments.lm_side).write_text(json.dumps(answers("lm_eval")))
        return
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "lm.json"
        subprocess.run([arguments.lm_python, __file__, "--lm-side", str(out)], check=True)
        theirs = json.loads(out.read_text())
    ours = answers(HERE)
    listed = list(calls())
    different = [place for place in range(len(listed)) if not same(ours[place], theirs[place])]
    for place in different:
        module, name, given, named = listed[place]
        print(
            f"{module}.{name}{given!s:.200} {named}\n  lm-eval {theirs[place]!s:.300}\n  Proctor {ours[place]!s:.300}"
        )
    print(f"{len(listed)} calls, {len(different)} differ")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
