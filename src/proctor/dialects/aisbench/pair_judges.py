"""``LMEvaluator``: a judge compares each answer with another model's, or gives it points.

The other model's answers come from a folder (``given_pred``). The two stand in the order that upstream gives them:
drawn (``infer_order='random'``, seed 666), both ways (``'double'``), or the other model's first.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from proctor.dialects.aisbench.datasets.files import find_file
from proctor.dialects.aisbench.judges import judge_builder, judge_engine, judge_of_config, words_of
from proctor.dialects.aisbench.postprocessors import postprocessor
from proctor.dialects.aisbench.values import location_of, short_name
from proctor.errors import Diagnostic, ScoringError, did_you_mean
from proctor.foreign_text import parse_json
from proctor.ir import Failure
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.judges.judge_client import JudgePrompt

_SEED = 666
"""Of the draw of who stands first (``lm_evaluator.py``: ``order_preds_and_record_references``)."""
_CANDIDATE, _OTHER = "candidate", "other"
_CHINESE, _ENGLISH = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"\b[a-zA-Z]+\b")
ORDERS = (None, "random", "double")


class Judged(NamedTuple):
    """One judgement.

    Attributes:
        words: What the judge said.
        first: Who stood first.
        fields: What the row says for scores: its output column.
    """

    words: str
    first: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PairReader:
    """How judgements of pairs are read.

    Attributes:
        points: From a judgement to what the candidate gets for it, between -1 and 1; ``None`` where it cannot be read.
        scores: From the points of readable judgements to scores.
    """

    points: Callable[[Judged], float | None]
    scores: Callable[[Sequence[tuple[Judged, float]]], dict[str, float]]


def lm_judge(
    cases: Cases,
    prompt_template: Mapping[str, Any],
    judge_cfg: Mapping[str, Any] | None = None,
    dict_postprocessor: Mapping[str, Any] | None = None,
    dataset_cfg: Mapping[str, Any] | None = None,
    keep_predictions: bool = False,
    of_dataset: Mapping[str, Any] | None = None,
) -> Verdict:
    """How a model fares beside another one, as a judge sees it (``LMEvaluator``).

    Args:
        cases: The model's answers.
        prompt_template: Of the judge's prompt; it has ``prediction`` and ``prediction2``, in the order that is drawn.
        judge_cfg: The judge; empty: what the variables ``OC_JUDGE_MODEL`` and its like say.
        dict_postprocessor: How judgements are read.
        dataset_cfg: Without effect: the rows are those that were asked about.
        keep_predictions: Without effect: predictions stand beside the judgements in the samples.
        of_dataset: What the dataset says of the comparison: ``abbr``, ``mode``, ``infer_order``, ``given_pred``,
            ``base_models``.

    Raises:
        ScoringError: There is no judge, the other model's answers are not there, or judgements cannot be read so.
    """
    del dataset_cfg, keep_predictions
    reader = READERS[_reader_name(dict_postprocessor)]
    others = _answers_of_others(of_dataset or {}, cases)
    asked = list(_asked(cases, others, (of_dataset or {}).get("infer_order")))
    judge = judge_of_config(judge_cfg)
    builder = judge_builder(prompt_template, judge)
    prompts = [builder.generate(row) for _, _, row in asked]
    questions = [JudgePrompt([*each.messages] if each.is_chat else each.text) for each in prompts]
    clean = postprocessor(judge.postprocessor, cases.project)
    said = [
        each if isinstance(each, Failure) else clean(each)
        for each in words_of(judge_engine(judge, judge_cfg), questions)
    ]
    return _verdict(cases, asked, said, reader)


def _verdict(
    cases: Cases, asked: Sequence[tuple[int, str, Mapping[str, Any]]], said: Sequence[Any], reader: PairReader
) -> Verdict:
    failures: dict[int, Failure] = {}
    good: list[tuple[Judged, float]] = []
    of_rows: dict[int, list[float]] = defaultdict(list)
    words: dict[int, list[str]] = defaultdict(list)
    for (place, first, _), text in zip(asked, said, strict=True):
        gold = cases.references[place]
        judged = Judged(str(text), first, gold if isinstance(gold, Mapping) else cases.rows[place])
        points = None if isinstance(text, Failure) else reader.points(judged)
        words[place].append(judged.words)
        if points is None:
            message = (
                text.message if isinstance(text, Failure) else f"the judgement cannot be read: {judged.words[:80]}"
            )
            failures[place] = Failure("processor", message, retryable=False)
            continue
        good.append((judged, points))
        of_rows[place].append(points)
    if not good:
        raise ScoringError("no judgement can be read", why=next(iter(failures.values())).message)
    places = range(len(cases.predictions))
    column = [50 * (1 + sum(of_rows[i]) / len(of_rows[i])) if i in of_rows else None for i in places]
    failures = {place: each for place, each in failures.items() if place not in of_rows}
    parsed = ["\n".join(words[i]) for i in places]
    return Verdict(reader.scores(good), {"preference": column}, parsed=parsed, failures=failures, described=True)


def _asked(cases: Cases, others: Sequence[str], order: str | None) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield for each prompt the case's place, who stands first, and the row; the other way round after all others."""
    stream = random.Random(_SEED)
    firsts = []
    for _ in others:
        pair = [_OTHER, _CANDIDATE]
        if order == "random":
            stream.shuffle(pair)
        firsts.append(pair[0])
    ways = [firsts, [_CANDIDATE if each == _OTHER else _OTHER for each in firsts]][: 2 if order == "double" else 1]
    for way in ways:
        for place, first in enumerate(way):
            pair = [others[place], str(cases.predictions[place])]
            texts = pair if first == _OTHER else pair[::-1]
            row = dict(cases.rows[place]) if cases.rows else {}
            for name, text in zip(("prediction", "prediction2"), texts, strict=True):
                row[name] = text
                row["obj_gold"] = cases.references[place]
                row[f"{name}_en_word_count"] = len(_ENGLISH.findall(text))
                row[f"{name}_cn_word_count"] = len(_CHINESE.findall(text))
            yield place, first, {**row, "reference": ""}


def _answers_of_others(of_dataset: Mapping[str, Any], cases: Cases) -> list[str]:
    """Return the other model's answer to each case.

    Raises:
        ScoringError: They are not there, or one of them is missing.
    """
    given = (of_dataset.get("given_pred") or [{}])[0]
    folder, place = given.get("path"), location_of(given) or location_of(of_dataset)
    name = f"{folder}/{of_dataset.get('abbr')}.json"
    file = find_file(name, place)
    if file is None or not file.is_file():
        hint = 'it has {"0": {"prediction": …}, …}, as OpenCompass writes predictions'
        raise ScoringError(f"there is no file '{name}' with the other model's answers", location=place, hint=hint)
    try:
        found = parse_json(file.read_text(encoding="utf-8"))
        numbers = [str(row.get("idx", i)) for i, row in enumerate(cases.rows or [{}] * len(cases.predictions))]
        return [str(found[number]["prediction"]) for number in numbers]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ScoringError(f"'{name}' lacks answers of the other model", location=place, why=why) from None


def pair_problems(config: Mapping[str, Any], of_dataset: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with a comparison that can be known before anybody is asked."""
    where = location_of(config)
    try:
        _reader_name(config.get("dict_postprocessor"))
    except ScoringError as error:
        yield from error.diagnostics
    if of_dataset.get("mode") not in ("m2n", "pair", None) or not of_dataset.get("given_pred"):
        yield Diagnostic(
            "an LMEvaluator compares here with another model's answers, and the dataset names none",
            where,
            "$.given_pred",
            f"mode is {of_dataset.get('mode')!r}",
            "given_pred=[dict(abbr='other', path='folder')], mode='m2n'",
        )
    elif len(of_dataset["given_pred"]) > 1:
        yield Diagnostic("an LMEvaluator compares with one other model here", where, "$.given_pred", hint="name one")
    if (order := of_dataset.get("infer_order")) not in ORDERS:
        hint = did_you_mean(str(order), [each for each in ORDERS if each]) or "choose random or double"
        yield Diagnostic(f"there is no infer_order {order!r}", where, "$.infer_order", hint=hint)


def _reader_name(config: Mapping[str, Any] | None) -> str:
    name = short_name((config or {}).get("type", ""))
    name = name if name in READERS else f"{name}_postprocess"
    if name not in READERS:
        raise ScoringError(
            "judgements cannot be read: " + (f"'{name}' is not known" if config else "there is no dict_postprocessor"),
            location=location_of(config),
            why=f"known are {', '.join(READERS)}",
            hint=did_you_mean(name, READERS),
        )
    return name


# -- readers ------------------------------------------------------------------------------------------------------


def _signed(judged: Judged, of_first: float) -> float:
    return of_first if judged.first == _CANDIDATE else -of_first


def _alpaca_points(judged: Judged) -> float | None:
    """Read AlpacaEval's verdict: ``m`` is the first answer, ``M`` the second."""
    return {"m": _signed(judged, 1.0), "M": _signed(judged, -1.0)}.get(judged.words[:1])


def _alpaca_scores(judged: Sequence[tuple[Judged, float]]) -> dict[str, float]:
    counts: dict[str, list[bool]] = {"total": []}
    for each, points in judged:
        for name in ("total", str(each.fields.get("capability", ""))):
            if name:
                counts.setdefault(name, []).append(points > 0)
    return {name: round(100 * sum(wins) / len(wins), 2) for name, wins in counts.items()}


_ARENA = re.compile(r"\[\[([AB<>=]+)\]\]")
_ARENA_POINTS = {"A>>B": 1.0, "A>B": 0.5, "A=B": 0.0, "B>A": -0.5, "B>>A": -1.0}
_HEAVY = 3
"""How often a clear win counts (Arena-Hard: ``get_battles_from_judgment``)."""


def _arena_points(judged: Judged) -> float | None:
    found = _ARENA.findall(judged.words)
    points = _ARENA_POINTS.get(found[0]) if found else None
    return None if points is None else _signed(judged, points)


def _arena_scores(judged: Sequence[tuple[Judged, float]]) -> dict[str, float]:
    """Return the chance to win that two models' Bradley-Terry strengths give: of two, the weighted share of wins."""
    weights = [_HEAVY if abs(points) == 1 else 1 for _, points in judged]
    won = sum(
        weight * (0.5 + (points > 0) / 2 - (points < 0) / 2)
        for weight, (_, points) in zip(weights, judged, strict=True)
    )
    return {"score": round(100 * won / sum(weights), 2)}


_WILD = re.compile(r'"choice": "(.*?)"')
_WILD_POINTS = {"A++": 1.0, "A+": 0.5, "A=B": 0.0, "B+": -0.5, "B++": -1.0}
_WILD_GROUPS = {
    "Information seeking": "Information/Advice seeking",
    "Advice seeking": "Information/Advice seeking",
    "Creative Writing": "Creative Tasks",
    "Editing": "Creative Tasks",
    "Brainstorming": "Creative Tasks",
    "Role playing": "Creative Tasks",
    "Others": "Creative Tasks",
    "Coding & Debugging": "Coding & Debugging",
    "Reasoning": "Planning & Reasoning",
    "Planning": "Planning & Reasoning",
    "Math": "Math & Data Analysis",
    "Data Analysis": "Math & Data Analysis",
}
"""WildBench's groups of tasks (``task_group_new``)."""


def _wild_points(judged: Judged) -> float | None:
    found = _WILD.findall(judged.words)
    points = _WILD_POINTS.get(found[0]) if found else None
    return None if points is None else _signed(judged, points)


def _wild_scores(judged: Sequence[tuple[Judged, float]]) -> dict[str, float]:
    groups: dict[str, list[float]] = defaultdict(list)
    for each, points in judged:
        for tag in (each.fields.get("primary_tag"), *(each.fields.get("secondary_tag") or ())):
            groups[_WILD_GROUPS[str(tag)]].append(points)
    scores = {name: round(100 * sum(points) / len(points), 2) for name, points in groups.items()}
    return {"average": sum(scores.values()) / len(scores), **scores}


READERS: Mapping[str, PairReader] = {
    "alpacaeval_postprocess": PairReader(_alpaca_points, _alpaca_scores),
    "arenahard_postprocess": PairReader(_arena_points, _arena_scores),
    "wildbench_postprocess": PairReader(_wild_points, _wild_scores),
}
"""By the name under which OpenCompass has them (``datasets/subjective``)."""
