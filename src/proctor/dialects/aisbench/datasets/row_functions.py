"""Dataset steps that no expression covers: functions of a column, a row, or all rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets import rows_code, rows_judged, rows_knowledge
from proctor.dialects.aisbench.datasets.custom import read_meta
from proctor.errors import DataError
from proctor.randomness import random_stream
from proctor.scoring.evaluators.options import orders
from proctor.scoring.text.postprocessors.general import read_literal
from proctor.scoring.text.postprocessors.mathematics import boxed

_LETTERS = "ABCD"
_SIMPLE_EVALS = 4  # as often as OpenAI's simple-evals asks each question of GPQA, and upstream with it
_SHIFTED = ("ABCD", "BCDA", "CDAB", "DABC")


def _drawn_orders(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """GPQA as simple-evals asks it: four times, each time with the options in an order drawn with seed 0."""
    del arguments
    stream = random.Random(0)
    made = []
    for row in [*rows] * _SIMPLE_EVALS:
        order = stream.sample(range(len(_LETTERS)), len(_LETTERS))
        options = [row["options"][i] for i in order]
        new = {**row, "answer": _LETTERS[order.index(0)], "options": options, "permutation": order}
        made.append(new | dict(zip(_LETTERS, options, strict=True)))
    return made


def _mathbench(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """MathBench: open questions, or questions with options, each in four orders where ``with_circular`` says so."""
    if "cloze" in arguments["name"]:
        return [{"question": row["question"].strip(), "answer": row["answer"].strip()} for row in rows]
    if not arguments.get("with_circular", True):
        return [
            {"question": _with_options(row["question"], row["options"]), "answer": row["answer"].strip()}
            for row in rows
        ]
    return [made for number, row in enumerate(rows) for made in with_circular_options(row, number)]


def with_circular_options(row: Row, number: int) -> list[Row]:
    """Return a question with its four options in four orders; the answer names question, letter and order."""
    made = []
    for order in _SHIFTED:
        options = [row["options"][_LETTERS.index(letter)] for letter in order]
        answer = f"{number}--{_LETTERS[order.index(row['answer'])]}--{order}"
        question = _with_options(row["question"], options)
        made.append({**row, "options": options, "answer": answer, "question": question})
    return made


def _wikibench(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """WikiBench and CompassBench: open questions, questions in four orders, or questions with their options below."""
    if "cloze" in arguments["name"]:
        return [{"question": row["question"].strip(), "answer": row["answer"].strip()} for row in rows]
    if "circular" in arguments["name"]:
        return [made for number, row in enumerate(rows) for made in with_circular_options(row, number)]
    return [{**row, "question": _with_options(row["question"], row["options"])} for row in rows]


def _with_options(question: str, options: Sequence[str]) -> str:
    return question.strip() + "\n" + "".join(f"{chr(ord('A') + i)}. {option}\n" for i, option in enumerate(options))


def _aisbench_custom(rows: Sequence[Row], arguments: Mapping[str, Any]) -> list[Row]:
    """AISBench's custom datasets: ``max_tokens`` of a row is how long its answer may be; a JSON file may say more.

    Upstream draws without a seed; here the draws follow from the settings' seed and the path.
    """
    named = _longest_answers(rows)
    meta = read_meta(arguments["path"], arguments.get("meta_path") or None, part="meta.json")
    if not meta or not named:
        return named
    stream = random_stream(arguments["path"])
    chosen = _sampled(named, str(meta.get("sampling_mode", "default")), int(meta.get("request_count", 0)), stream)
    lengths = answer_lengths(meta.get("output_config"), len(chosen), stream)
    return [{**row, "max_out_len": length} for row, length in zip(chosen, lengths, strict=True)] if lengths else chosen


def _sampled(rows: list[Row], mode: str, count: int, stream: random.Random) -> list[Row]:
    """Return ``count`` rows, from the start again where there are fewer: the first ones, drawn, or shuffled."""
    if count < 0 or mode not in ("default", "random", "shuffle"):
        raise DataError(
            f"sampling_mode is '{mode}' and request_count is {count}", hint="use default, random or shuffle"
        )
    count = count or len(rows)
    repeated = (rows * -(-count // len(rows)))[:count] if count > len(rows) else rows
    if mode == "random":
        return stream.sample(repeated, count)
    chosen = repeated[:count]
    if mode == "shuffle":
        stream.shuffle(chosen)
    return chosen


def answer_lengths(config: object, count: int, stream: random.Random) -> list[int]:
    """Return how long each answer may be: drawn evenly from a range, or a share of the rows for each length.

    Raises:
        DataError: There is no such method.
    """
    if not isinstance(config, Mapping):
        return []
    values = config.get("params", {})
    if config.get("method") == "uniform":
        return [stream.randint(int(values["min_value"]), int(values["max_value"])) for _ in range(count)]
    if config.get("method") != "percentage":
        raise DataError(f"the method of output_config is {config.get('method')!r}", hint="use uniform or percentage")
    shares = values["percentage_distribute"]
    lengths = [length for length, share in shares for _ in range(int(share * count))]
    return (lengths + [shares[-1][0]] * count)[:count]


def _longest_answers(rows: Sequence[Row]) -> list[Row]:
    return [
        {**{key: value for key, value in row.items() if key != "max_tokens"}, "max_out_len": row["max_tokens"]}
        if row.get("max_tokens") is not None
        else {key: value for key, value in row.items() if key != "max_tokens"}
        for row in rows
    ]


COLUMN_FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {"boxed": boxed, "literal": read_literal}
ROW_FUNCTIONS: Mapping[str, rows_knowledge.RowFunction] = {
    "drawn_orders": _drawn_orders,
    "mathbench": _mathbench,
    "wikibench": _wikibench,
    **rows_knowledge.FUNCTIONS,
    "aisbench_custom": _aisbench_custom,
}
SINGLE_ROW_FUNCTIONS: Mapping[str, rows_knowledge.SingleRowFunction] = {
    **rows_code.FUNCTIONS,
    **rows_judged.FUNCTIONS,
    **rows_knowledge.SINGLE_ROW_FUNCTIONS,
}


# -- questions asked with their options in every order ------------------------------------------------------------


def circular(rows: Sequence[Row], config: Mapping[str, Any], split: str) -> list[Row]:
    """Return each question once for each order of its options (Liu et al. 2023, CircularEval).

    Args:
        rows: The questions.
        config: ``option_keys``, ``answer_key``, ``circular_splits`` (``None``: datasets without splits),
            ``circular_patterns``, and ``labels``: what answers call the options where that is not the options' keys.
        split: Whose rows these are.
    """
    wanted = config.get("circular_splits")
    if split and (wanted is None or split not in wanted):
        return list(rows)
    keys = list(config["option_keys"])
    turned = orders(keys, config.get("circular_patterns", "circular"))
    turn = partial(_turned, keys=keys, answer_key=config.get("answer_key"), labels=list(config.get("labels") or keys))
    return [turn(row, number, order) for number, row in enumerate(rows) for order in turned]


def _turned(
    row: Row, number: int, order: Sequence[str], *, keys: Sequence[str], answer_key: str | None, labels: Sequence[str]
) -> Row:
    made = {**row, **{new: row[old] for new, old in zip(order, keys, strict=True)}}
    if answer_key is not None and row[answer_key] in labels:
        made[answer_key] = labels[keys.index(order[labels.index(row[answer_key])])]
    return {**made, "qid": number, "circular_pattern": list(order)}
