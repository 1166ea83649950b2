"""Configs for the goldens, and the cases that ask them."""
# ruff: noqa: E501 - lists of exams

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from pprint import pformat
from typing import Any

from conformance.own import made_up
from conformance.own.cases import LOST, Case

Values = dict[str, Any]

_READER = {"input_columns": ["question", "A", "B", "C", "D"], "output_column": "answer"}
_ROUND = [
    {"role": "HUMAN", "prompt": "Q: {question}\nA. {A}\nB. {B}\nC. {C}\nD. {D}\nAnswer: "},
    {"role": "BOT", "prompt": "{answer}\n"},
]
_SYSTEM = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Pick a letter."}
_TEXT = "Q: {question}\nA. {A} B. {B} C. {C} D. {D}\nAnswer: {answer}"
_FROM = {
    "oc": "from opencompass.datasets import JsonlDataset, GSM8KDataset, MMLUDataset\n"
    "from opencompass.openicl.icl_evaluator import AccEvaluator, RougeEvaluator, BleuEvaluator, EMEvaluator, MccEvaluator\n"
    "from opencompass.openicl.icl_evaluator import AccwithDetailsEvaluator, EDAccEvaluator, SquadEvaluator, JiebaRougeEvaluator\n"
    "from opencompass.datasets.circular import CircularEvaluator as CircularOfData\n",
    "ais": "from ais_bench.benchmark.datasets import JsonlDataset, GSM8KDataset, MMLUDataset\n"
    "from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator, AccwithDetailsEvaluator, EMEvaluator, RougeEvaluator\n"
    "from ais_bench.benchmark.datasets.circular import CircularEvaluator as CircularOfData\n",
}
"""Names that a config imports decide whose rules hold, of two that differ: OpenCompass' or AISBench's."""


class _Name(str):
    """A name that a config imports, written without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _template(template: Any, **more: Any) -> Values:
    return {"type": "PromptTemplate", "template": template, **more}


def _dataset(template: Any, inferencer: str = "GenInferencer", **more: Any) -> Values:
    """Return a dataset; ``_…`` keys go to its parts."""
    inference: Values = {
        "prompt_template": _template(template, **more.pop("_template", {})),
        "retriever": more.pop("_retriever", {"type": "ZeroRetriever"}),
        "inferencer": {"type": inferencer, **more.pop("_inferencer", {})},
    }
    if examples := more.pop("_examples", None):
        inference["ice_template"] = _template(examples)
    evaluation = {"evaluator": {"type": _Name("AccEvaluator")}, **more.pop("_evaluation", {})}
    reader = {**_READER, **more.pop("_reader", {})}
    if not reader["output_column"]:
        del reader["output_column"]
    source = {"type": _Name("JsonlDataset"), "path": "test.jsonl"}
    return {**source, "reader_cfg": reader, "infer_cfg": inference, "eval_cfg": evaluation, **more}


def _with_demos(template: Any, retriever: Values, inferencer: str = "GenInferencer", **more: Any) -> Values:
    """Return a dataset whose demos come from a file of their own."""
    source = {"type": _Name("GSM8KDataset"), "path": "."}
    return _dataset(template, inferencer, _retriever=retriever, **{**source, **more})


def _demos() -> dict[str, Values]:
    retrievers = {
        "fixed": {"type": "FixKRetriever", "fix_id_list": [3, 0, 7]},
        "random": {"type": "RandomRetriever", "ice_num": 3},
        "seeded": {"type": "RandomRetriever", "ice_num": 2, "seed": 5},
        "bm25": {"type": "BM25Retriever", "ice_num": 2},
        "joined": {
            "type": "FixKRetriever",
            "fix_id_list": [1, 2],
            "ice_separator": "\n--\n",
            "ice_eos_token": "\n==\n",
        },
    }
    token = {"ice_token": "</E>"}
    dialogue = {"begin": [_SYSTEM, "</E>"], "round": _ROUND}
    found = {
        f"text_{name}": _with_demos(f"</E>{_TEXT}", each, _template=token, _examples=_TEXT)
        for name, each in retrievers.items()
    }
    found |= {
        f"talk_{name}": _with_demos(dialogue, each, _template=token, _examples={"round": _ROUND})
        for name, each in retrievers.items()
    }
    window = {"type": "SlidingWindowRetriever", "k": 2}
    found["window"] = _dataset(f"</E>{_TEXT}", _retriever=window, _template=token, _examples=_TEXT)
    short = {"_inferencer": {"max_seq_len": 60}}
    found["short_text"] = _with_demos(f"</E>{_TEXT}", retrievers["fixed"], _template=token, _examples=_TEXT, **short)
    found["short_talk"] = _with_demos(
        dialogue, retrievers["random"], _template=token, _examples={"round": _ROUND}, **short
    )
    labels = {letter: f"</E>{{question}} {{{letter}}}" for letter in "ABCD"}
    examples = {letter: f"{{question}} {{{letter}}}" for letter in "ABCD"}
    ppl = {"_template": token, "_examples": examples}
    found["ppl_demos"] = _with_demos(labels, retrievers["random"], "PPLInferencer", **ppl)
    for name, length in (("some", 30), ("by_label", 24), ("all", 8)):
        found[f"ppl_short_{name}"] = _with_demos(
            labels, retrievers["fixed"], "PPLInferencer", **ppl, _inferencer={"max_seq_len": length}
        )
    return found


def _choices() -> dict[str, Values]:
    labels = {letter: f"{{question}} {{{letter}}}" for letter in "ABCD"}
    talks = {letter: {"round": [_ROUND[0], {"role": "BOT", "prompt": letter}]} for letter in "ABCD"}
    split = {letter: f"{{question}}</S>{{{letter}}}" for letter in "ABCD"}
    return {
        "ppl": _dataset(labels, "PPLInferencer"),
        "ppl_talk": _dataset(talks, "PPLInferencer"),
        "ppl_some": _dataset(labels, "PPLInferencer", _inferencer={"labels": ["B", "A"]}),
        "ppl_normal": _dataset(split, "PPLInferencer", _template={"sep_token": "</S>"}, _inferencer={"normalizing_str": "Answer: "}),
        "ll": _dataset(labels, "LLInferencer", path="cont.jsonl"),
        "clp": _dataset("{question}\nAnswer: ", "CLPInferencer", path="cont.jsonl",
                        _evaluation={"evaluator": {"type": "AUCROCEvaluator"}}, _reader={"output_column": "is_so"}),
    }  # fmt: skip


def _runs() -> dict[str, Values]:
    several = {"n": 3, "k": [1, 2]}
    details = {"_evaluation": {"evaluator": {"type": _Name("AccwithDetailsEvaluator")}, "pred_postprocessor": _FIRST}}
    drawn = {"_template": {"ice_token": "</E>"}, "_examples": _TEXT}
    return {
        "runs_demos": _with_demos(f"</E>{_TEXT}", {"type": "RandomRetriever", "ice_num": 2}, **several, **details, **drawn),
        "runs_demos_range": _with_demos(
            f"</E>{_TEXT}", {"type": "RandomRetriever", "ice_num": 2}, **several, **details, **drawn, _reader={"test_range": "[4:13]"}
        ),
        "runs": _dataset(_TEXT, **several, **details),
        "runs_range": _dataset(_TEXT, **several, **details, _reader={"test_range": "[2:11]"}),
        "runs_uneven": _dataset(_TEXT, **several, **details, _reader={"test_range": "[2:9]"}),
        "runs_count": _dataset(_TEXT, n=3, k=2, _reader={"test_range": "[3:]"}, _evaluation={"pred_postprocessor": _FIRST}),
        "range": _dataset(_TEXT, _reader={"test_range": "[1:11:2]"}),
        "half": _dataset(_TEXT, _reader={"test_range": 0.5}),
        "two": _dataset(_TEXT, _reader={"test_range": 2}),
        "split": _dataset(_TEXT, type=_Name("MMLUDataset"), path=".", name="made",
                          _reader={"input_columns": ["input", "A", "B", "C", "D"], "output_column": "target", "train_split": "dev"}),
    }  # fmt: skip


_FIRST = {"type": "first_option_postprocess", "options": "ABCD"}


def _talks() -> dict[str, Values]:
    turns = {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]}
    reader = {"input_columns": ["question"]}
    return {
        f"turns_{mode}": _dataset(
            turns, "MultiTurnGenInferencer", path="talk.jsonl", _reader=reader,
            _template={"type": "MultiTurnPromptTemplate"}, _inferencer={"infer_mode": mode},
        )
        for mode in ("last", "every", "every_with_gt")
    }  # fmt: skip


def _scored() -> dict[str, Values]:
    """Return datasets with all kinds of evaluators and post-processors."""

    def by(evaluator: Any, output: str = "answer", pred: Any = None, gold: Any = None, **more: Any) -> Values:
        found: Values = {"evaluator": {"type": evaluator, **more}}
        found |= {"pred_postprocessor": pred} if pred else {}
        found |= {"dataset_postprocessor": gold} if gold else {}
        return _dataset(
            _TEXT.replace("{answer}", f"{{{output}}}"), _evaluation=found, _reader={"output_column": output}
        )

    letters = {f"letters_{name.partition('_')[0]}{place}": by(_Name("AccEvaluator"), pred={"type": name, **more}) for place, (name, more) in enumerate([
        ("first_option_postprocess", {"options": "ABCD"}), ("last_option_postprocess", {"options": "ABCD"}), ("first_capital_postprocess", {}),
        ("last_capital_postprocess", {}), ("general_postprocess", {}), ("multiple_select_postprocess", {}), ("first_capital_postprocess_multi", {})])}  # fmt: skip
    circular = by("CircularEvaluator", "named", pred=_FIRST)
    turned = by(_Name("CircularOfData"), pred=_FIRST)
    return {
        **letters,
        "exact": by(_Name("EMEvaluator"), "word"),
        "numbers": by(_Name("AccEvaluator"), "number", pred={"type": "first_number_postprocess"}),
        "gsm8k": by(
            "Gsm8kEvaluator", "worked", pred={"type": "gsm8k_postprocess"}, gold={"type": "gsm8k_dataset_postprocess"}
        ),
        "general": by(
            _Name("AccEvaluator"), "label", pred={"type": "general_postprocess"}, gold={"type": "general_postprocess"}
        ),
        "rouge": by(_Name("RougeEvaluator"), "reference", pred={"type": "general_cn_postprocess"}),
        "details": by(_Name("AccwithDetailsEvaluator"), pred=_FIRST),
        "bbh": by("BBHEvaluator", "label"),
        "bbh_choice": by("BBHEvaluator_mcq"),
        "similar": by("OptionSimAccEvaluator", options=list("ABCD")),
        "triviaqa": by("TriviaQAEvaluator", "references"),
        "natural": by("NQEvaluator", "references"),
        "lambada": by("LambadaEvaluator", "word"),
        "longbench": by("LongBenchF1Evaluator", "references"),
        "math": by("MATHEvaluator", "number", pred={"type": "math_postprocess_v2"}),
        "drop": by("DropOpenAIEvaluator", "word"),
        "circular": {**circular, "path": "circular.jsonl"},
        "turned": {**turned, "path": "circular.jsonl"},
    }


def _of_opencompass() -> dict[str, Values]:
    def by(evaluator: str, output: str) -> Values:
        return _dataset(
            "{question}", _evaluation={"evaluator": {"type": _Name(evaluator)}}, _reader={"output_column": output}
        )

    return {
        "bleu": by("BleuEvaluator", "reference"),
        "squad": by("SquadEvaluator", "reference"),
        "jieba": by("JiebaRougeEvaluator", "reference"),
    }


def _all(project: str) -> dict[str, Values]:
    return {
        **_demos(),
        **_choices(),
        **_runs(),
        **_talks(),
        **_scored(),
        **(_of_opencompass() if project == "oc" else {}),
    }


_GROUPS = {
    "summary_groups": [
        {"name": "letters", "subsets": ["letters_first0", "letters_last1"]},
        {"name": "weighted", "subsets": ["exact", "numbers"], "weights": {"exact": 1, "numbers": 3}},
        {"name": "moved", "subsets": ["general", "details"], "transforms": {"general": "100 - x", "details": "x * 2"}},
        {"name": "summed", "subsets": ["exact", "general"], "sum": True},
        {"name": "spread", "subsets": ["exact", "general", "numbers"], "std": True},
        {"name": "harmonic", "subsets": [["details", "accuracy"], ["exact", "exact_match"]], "harmonic_mean": True},
        {"name": "above", "subsets": ["letters", "weighted", "numbers"]},
        {"name": "incomplete", "subsets": ["letters_first0", "nowhere"]},
    ]
}


def write(folder: Path) -> None:
    """Write configs and their rows."""
    made_up.write(folder)
    made_up.write_continuations(folder)
    for project, head in _FROM.items():
        datasets = [{"abbr": name, **values} for name, values in _all(project).items()]
        text = f"{head}\ndatasets = {pformat(datasets, width=140)}\nsummarizer = dict(summary_groups={_GROUPS['summary_groups']!r})\n"
        (folder / f"{project}.py").write_text(text, encoding="utf-8")
    (folder / "models.py").write_text(_MODELS, encoding="utf-8")


_MODELS = """
from opencompass.models import HuggingFaceCausalLM
models = [dict(type=HuggingFaceCausalLM, abbr='short', path='made/up', max_seq_len=60, max_out_len=11, end_str='er',
    meta_template=dict(begin='<s>', round=[dict(role='HUMAN', begin='<human>', end='</human>\\n'),
        dict(role='BOT', begin='<bot>', end='</bot>\\n', generate=True)], reserved_roles=[dict(role='SYSTEM', begin='<sys>', end='</sys>\\n')]),
    pred_postprocessor=dict(type='general_postprocess'))]
"""
_META = {
    "begin": "<s>",
    "round": [
        {"role": "HUMAN", "begin": "<human>", "end": "</human>\n"},
        {"role": "BOT", "begin": "<bot>", "end": "</bot>\n", "generate": True},
    ],
    "eos_token_id": 2,
}


def cases() -> Iterator[Case]:
    """Yield the cases of this dialect."""
    lost: Values = {"lost": list(LOST)}
    for project in _FROM:
        everything = (f"{project}.py",)

        def some(names: dict[str, Values], project: str = project) -> tuple[str, ...]:
            return tuple(f"{project}.py::{name}" for name in names)

        demos, runs, written = some(_demos()), some(_runs()), some({**_runs(), **_talks(), **_scored()})
        yield Case(f"{project}-plain", everything)
        yield Case(f"{project}-limit-1", everything, {"limit": 1})
        yield Case(f"{project}-limit-half", everything, {"limit": 0.5})
        yield Case(f"{project}-limit-5", (*demos, *runs), {"limit": 5})
        yield Case(f"{project}-lost", everything, engine={**lost, "ties": True})
        yield Case(f"{project}-ties", some(_choices()), engine={"ties": True})
        yield Case(f"{project}-lost-runs", runs, {"limit": 0.7}, lost)
        yield Case(f"{project}-demos-2", demos, {"num_demos": 2})
        yield Case(f"{project}-demos-0", demos, {"num_demos": 0, "limit": 4})
        yield Case(
            f"{project}-messages",
            tuple(each for each in (*demos, *written) if "ppl" not in each),
            {"apply_chat_template": True, "limit": 4},
        )
        yield Case(f"{project}-chats", written, {"limit": 5}, {"chats": True, "scores": False})
        yield Case(f"{project}-meta", everything, {"meta_template": _META, "limit": 3})
        yield Case(f"{project}-system", everything, {"system_prompt": "Be brief.", "limit": 3})
        yield Case(f"{project}-model", everything, {"model_config": "models.py::short", "limit": 6})
        yield Case(
            f"{project}-decoding", written, {"decoding": {"max_tokens": 5, "temperature": 0.7, "seed": 3}, "limit": 4}
        )
        yield Case(f"{project}-groups", some({each: {} for each in _IN_GROUPS}), {"limit": 9})
        yield Case(
            f"{project}-some-groups", some({"exact": {}, "numbers": {}, "letters_first0": {}}), {"limit": 7}, lost
        )
    for name in ("circular.csv", "options.jsonl", "open.jsonl"):
        yield Case(
            f"custom-{name}",
            (f"{name}[project=opencompass]",),
            {"num_demos": 0},
            {"answers": ["A", "B", "The answer is {letter}.", "{word}"]},
        )


_IN_GROUPS = ("letters_first0", "letters_last1", "exact", "numbers", "general", "details")
