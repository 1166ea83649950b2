"""``LMEvaluator``: a judge compares each answer with another model's, or gives it points.

The other model's answers come from a folder (``given_pred``). The two stand in the order that upstream gives them:
drawn (``infer_order='random'``, seed 666), both ways (``'double'``), or the other model's first.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.dialects.aisbench.datasets.files import find_file
from proctor.dialects.aisbench.judges import READERS as READERS_OF_ANSWERS
from proctor.dialects.aisbench.judges import judge_builder, judge_of_config, report_of, said_of
from proctor.dialects.aisbench.values import location_of, short_name
from proctor.errors import Diagnostic, ScoringError, did_you_mean
from proctor.foreign_text import parse_json
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.evaluators.judged_answers import compared, reported
from proctor.scoring.evaluators.pair_readers import CANDIDATE, OTHER, PAIR_READERS

_SEED = 666  # of the draw of who stands first (``lm_evaluator.py``: ``order_preds_and_record_references``).
_CHINESE, _ENGLISH = re.compile(r"[\u4e00-\u9fff]"), re.compile(r"\b[a-zA-Z]+\b")
ORDERS = (None, "random", "double")
READERS = (*PAIR_READERS, *READERS_OF_ANSWERS)
Row = Mapping[str, Any]


def lm_judge(
    cases: Cases,
    prompt_template: Mapping[str, Any],
    judge_cfg: Mapping[str, Any] | None = None,
    dict_postprocessor: Mapping[str, Any] | None = None,
    of_dataset: Mapping[str, Any] | None = None,
    pack_all_predictions: bool = False,
    multi_eval: bool = False,
    **told: Any,
) -> Verdict:
    """How good a model's answers are as a judge sees it, alone or beside another model's (``LMEvaluator``).

    Args:
        cases: The model's answers; conversations are lists of rounds.
        prompt_template: Of the judge's prompt; it has ``prediction``, of pairs also ``prediction2``, in the order that
            is drawn; of conversations ``prediction_r1`` and so on.
        judge_cfg: The judge; empty: what the variables ``OC_JUDGE_MODEL`` and its like say.
        dict_postprocessor: How judgements are read.
        of_dataset: What the dataset says of the comparison: ``abbr``, ``mode``, ``infer_order``, ``given_pred``,
            ``base_models``.
        pack_all_predictions: Whether the judge sees a whole conversation as one text.
        multi_eval: Whether each row brings prompts of its own for the judge, who is asked each of them.
        told: ``dataset_cfg`` and ``keep_predictions``, without effect: the rows are those that were asked about, and
            predictions stand beside the judgements in the samples.

    Raises:
        ScoringError: There is no judge, the other model's answers are not there, or judgements cannot be read so.
    """
    if unknown := set(told) - {"dataset_cfg", "keep_predictions"}:
        raise ScoringError(f"'LMEvaluator' has no argument '{min(unknown)}'")
    name = _reader_name(dict_postprocessor)
    asking = _Asking(cases, prompt_template, judge_cfg, is_packed=pack_all_predictions)
    arguments = {key: value for key, value in (dict_postprocessor or {}).items() if key not in ("type", "judge_type")}
    if name not in PAIR_READERS:
        asked = list(asking.alone(multi_eval))
        said = asking.said([row for _, row in asked])
        return reported(report_of(dict_postprocessor), cases, said, [place for place, _ in asked])
    others = _answers_of_others(of_dataset or {}, cases)
    pairs = list(asking.pairs(others, (of_dataset or {}).get("infer_order")))
    said = asking.said([row for _, _, row in pairs])
    reader = PAIR_READERS[name].with_arguments(arguments)
    return compared(cases, [(place, first) for place, first, _ in pairs], said, reader)


class _Asking:
    """What a judge is asked about answers.

    Args:
        cases: The answers.
        template: Of the judge's prompt.
        is_packed: Whether conversations are one text.
    """

    def __init__(
        self, cases: Cases, template: Mapping[str, Any], judge_cfg: Mapping[str, Any] | None, *, is_packed: bool
    ) -> None:
        self._cases, self._config, self._is_packed = cases, judge_cfg, is_packed
        self._judge = judge_of_config(judge_cfg)
        self._builder = judge_builder(template, self._judge)
        rounds = [len(each) for each in cases.predictions if isinstance(each, list)]
        self._rounds = max(rounds, default=0)

    def said(self, rows: Sequence[Row]) -> list[Any]:
        """Return what the judge says of each row; a failure where it says nothing."""
        return said_of(rows, self._builder, self._judge, self._config, self._cases.project)

    def alone(self, multi_eval: bool) -> Iterator[tuple[int, Row]]:
        """Yield for each prompt the case's place and the row.

        Raises:
            ScoringError: Each row is to bring prompts for the judge, and one does not.
        """
        for place, given in enumerate(self._cases.predictions):
            texts = self._own_prompts(place, str(given)) if multi_eval else [given]
            for text in texts:
                yield place, self._row(place, [text])

    def _own_prompts(self, place: int, given: str) -> list[str]:
        gold = self._cases.references[place]
        prompts = gold.get("judge_prompt_list") if isinstance(gold, Mapping) else None
        if not prompts:
            raise ScoringError(
                "the row brings no prompts for the judge", why="multi_eval asks those of judge_prompt_list"
            )
        return [str(prompt).replace("{prediction}", given) for prompt in prompts]

    def pairs(self, others: Sequence[Any], order: str | None) -> Iterator[tuple[int, str, Row]]:
        """Yield for each prompt the case's place, who stands first, and the row; the other way round at the end."""
        stream = random.Random(_SEED)
        firsts = []
        for _ in others:
            pair = [OTHER, CANDIDATE]
            if order == "random":
                stream.shuffle(pair)
            firsts.append(pair[0])
        ways = [firsts, [CANDIDATE if each == OTHER else OTHER for each in firsts]][: 2 if order == "double" else 1]
        for way in ways:
            for place, first in enumerate(way):
                both = [others[place], self._cases.predictions[place]]
                yield place, first, self._row(place, both if first == OTHER else both[::-1])

    def _row(self, place: int, answers: Sequence[Any]) -> Row:
        row = dict(self._cases.rows[place]) if self._cases.rows else {}
        for number, answer in enumerate(answers):
            name = f"prediction{number + 1}" if number else "prediction"
            if not isinstance(answer, list):
                row |= self._words(name, str(answer), place)
            elif self._is_packed:
                row[name] = str(answer)
            else:
                row |= self._rounds_of(f"prediction{number}" if number else "prediction", answer)
        return {**row, "reference": ""}

    def _words(self, name: str, text: str, place: int) -> Row:
        return {
            name: text,
            "obj_gold": self._cases.references[place],
            f"{name}_en_word_count": len(_ENGLISH.findall(text)),
            f"{name}_cn_word_count": len(_CHINESE.findall(text)),
        }

    def _rounds_of(self, name: str, answer: Sequence[Row]) -> Row:
        most = max(self._rounds, len(answer))
        said = [each.get("assistant") for each in answer] + [None] * (most - len(answer))
        return {f"{name}_r{number}": text for number, text in enumerate(said, 1)}


def _answers_of_others(of_dataset: Mapping[str, Any], cases: Cases) -> list[Any]:
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
        given_answers = [found[number]["prediction"] for number in numbers]
        return [each if isinstance(each, list) else str(each) for each in given_answers]
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise ScoringError(f"'{name}' lacks answers of the other model", location=place, why=why) from None


def pair_problems(config: Mapping[str, Any], of_dataset: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield what is wrong with a comparison that can be known before anybody is asked."""
    where = location_of(config)
    try:
        if _reader_name(config.get("dict_postprocessor")) not in PAIR_READERS:
            return
    except ScoringError as error:
        yield from (each.at(where, "$.eval_cfg.evaluator.dict_postprocessor") for each in error.diagnostics)
        if not config.get("dict_postprocessor"):
            return  # it is not known whether pairs are meant
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
    if "_bradleyterry" in name:
        raise ScoringError(
            f"judgements are not read by '{name}' here",
            location=location_of(config),
            why="it writes matches, from which a summarizer makes a table of the strengths of several models",
            hint=f"{name.replace('_bradleyterry', '')} scores one model beside another",
        )
    name = name if name in READERS else f"{name}_postprocess"
    if name not in READERS:
        raise ScoringError(
            "judgements cannot be read: " + (f"'{name}' is not known" if config else "there is no dict_postprocessor"),
            location=location_of(config),
            why=f"known are {', '.join(READERS)}",
            hint=did_you_mean(name, READERS) if config else "dict_postprocessor=dict(type=…)",
        )
    return name
