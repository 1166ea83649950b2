"""Task files for the goldens, and the cases that ask them."""
# ruff: noqa: E501 - lists of exams

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from conformance.own import made_up
from conformance.own.cases import LOST, Case

Values = dict[str, Any]

_HEAD: Values = {
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "test.jsonl", "train": "train.jsonl"}},
    "test_split": "test",
    "training_split": "train",
}
_CHOICE: Values = {
    **_HEAD,
    "output_type": "multiple_choice",
    "doc_to_text": "Question: {{question}}\nAnswer:",
    "doc_to_choice": "{{options}}",
    "doc_to_target": "gold",
}
_TEXT: Values = {
    **_HEAD,
    "output_type": "generate_until",
    "doc_to_text": "{{question}}\nAnswer:",
    "doc_to_target": "label",
}
_FIND = {"function": "regex", "regex_pattern": r"answer is ([A-D])"}
_FIRST = {"function": "take_first"}


def _metrics(*names: str, **more: Any) -> list[Values]:
    return [{"metric": name, **more} for name in names]


def _choices() -> dict[str, Values]:
    letters = {"doc_to_choice": ["A", "B", "C", "D"], "doc_to_target": "answer"}
    inputs = {"doc_to_text": "is_so", "doc_to_choice": "{{[question, text]}}", "doc_to_target": " {{word}}"}
    return {
        "choice": {
            **_CHOICE,
            "metric_list": _metrics("acc", "acc_norm", "acc_bytes", "brier_score", "f1", "mcc", "likelihood"),
        },
        "choice_plain": _CHOICE,
        "two": {
            **_CHOICE,
            "doc_to_choice": ["no", "yes"],
            "doc_to_target": "is_so",
            "metric_list": _metrics("acc", "f1", "mcc"),
        },
        "mutual": {**_CHOICE, "metric_list": _metrics("acc", "acc_mutual_info"), "target_delimiter": ""},
        "letters": {**_CHOICE, **letters, "description": "Pick one.\n\n", "gen_prefix": "It is"},
        "inputs": {**_CHOICE, **inputs, "target_delimiter": ""},
        "several_gold": {**_CHOICE, "num_fewshot": 0, "doc_to_target": "{{[0, gold]}}"},
        "balanced": {**_CHOICE, "fewshot_config": {"sampler": "balanced"}},
        "first_n": {**_CHOICE, "fewshot_config": {"sampler": "first_n"}, "fewshot_delimiter": "\n---\n"},
        "own_split": {**_CHOICE, "fewshot_split": "test"},
        "indices": {**_CHOICE, "fewshot_config": {"fewshot_indices": [7, 2, 5, 1, 0, 9]}},
        "given": {**_CHOICE, "fewshot_config": {"sampler": "first_n", "samples": made_up.pool()[4:9]}},
        "five": {**_CHOICE, "num_fewshot": 5, "description": "On {{topic}}.\n"},
        "never": {**_CHOICE, "num_fewshot": 0},
    }


def _texts() -> dict[str, Values]:
    numbers = {
        "doc_to_target": "number",
        "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 9, "temperature": 0.5},
    }
    filters = [
        {"name": "strict", "filter": [_FIND, _FIRST]},
        {"name": "loose", "filter": [{"function": "regex", "regex_pattern": "([A-D])", "group_select": -1}, _FIRST]},
        {"name": "shape", "filter": [{"function": "lowercase"}, {"function": "remove_whitespace"}, _FIRST]},
        {
            "name": "table",
            "filter": [{"function": "map", "mapping_dict": {"yes": "A", "no": "B"}, "default_value": "C"}, _FIRST],
        },
    ]
    votes = [
        {"name": "vote", "filter": [{"function": "majority_vote"}, _FIRST]},
        {"name": "two", "filter": [{"function": "take_first_k", "k": 2}, {"function": "majority_vote"}, _FIRST]},
        {"name": "first", "filter": [_FIRST]},
    ]
    loose = {"ignore_case": True, "ignore_punctuation": True, "regexes_to_ignore": [r"\s"]}
    return {
        "text": {**_TEXT, "metric_list": _metrics("exact_match")},
        "filters": {**_TEXT, "doc_to_target": "answer", "filter_list": filters, "metric_list": _metrics("exact_match", **loose)},
        "repeats": {**_TEXT, "repeats": 3, "filter_list": votes, "metric_list": _metrics("exact_match")},
        "at_k": {
            **_TEXT, **numbers, "repeats": 3,
            "metric_list": [*_metrics("pass@k", k=[1, 2]), *_metrics("avg@k", "maj@k", k=3)],
        },
        "at_k_found": {
            **_TEXT, "doc_to_target": "answer", "repeats": 3, "metric_list": [*_metrics("exact_match"), *_metrics("pass@k", "maj@k", k=[2, 3])],
            "filter_list": [{"name": "letter", "filter": [_FIND, _FIRST]}],
        },
        "corpus": {**_TEXT, "doc_to_target": "reference", "metric_list": _metrics("bleu", "chrf", "ter", "exact_match")},
        "many_gold": {**_TEXT, "doc_to_target": "{{references}}", "metric_list": _metrics("exact_match", "bleu")},
        "classes": {**_TEXT, "doc_to_choice": list(made_up.LABELS), "doc_to_target": "{{gold % 3}}"},
        "prefixed": {**_TEXT, "gen_prefix": "I say", "target_delimiter": " -> ", "fewshot_delimiter": "\n##\n"},
        "bypass": {**_TEXT, "metric_list": _metrics("bypass")},
        "median": {**_TEXT, "metric_list": _metrics("exact_match", aggregation="median")},
    }  # fmt: skip


def _likelihoods() -> dict[str, Values]:
    last = {"doc_to_text": "{{text}}", "doc_to_target": " {{word}}"}
    return {
        "last_word": {**_HEAD, **last, "output_type": "loglikelihood"},
        "last_word_acc": {**_HEAD, **last, "output_type": "loglikelihood", "metric_list": _metrics("acc")},
        "rolled": {
            **_HEAD,
            "output_type": "loglikelihood_rolling",
            "doc_to_text": "",
            "doc_to_target": "{{reference}}",
        },
    }


def _templates() -> dict[str, Values]:
    names = (
        "mmlu",
        "mcq",
        "cloze",
        "generate_until",
        "mcq::mmlu",
        "mcq::gpqa",
        "mcq::numbered",
        "cloze::options",
        "cloze::pure",
    )
    seen = {**_CHOICE, "doc_to_text": "{{question}}"}
    made = {f"template_{place}": {**seen, "template": name} for place, name in enumerate(names)}
    several = {"mcq": {"choice_format": "{label}) {choice}"}, "cloze": {}, "generate_until": {"suffix": "Say:"}}
    return {**made, "several": {**seen, "template": several}}


OWN_KEYS = ("at_k", "at_k_found", "balanced")
"""Tasks with metrics or samplers that lm-eval does not have."""


def plain_tasks() -> dict[str, Values]:
    """Return the tasks that lm-eval itself reads, by name."""
    tasks = {**_choices(), **_texts(), **_likelihoods()}
    return {name: values for name, values in tasks.items() if name not in OWN_KEYS}


def _by_code() -> dict[str, str]:
    head = yaml.safe_dump(_TEXT, sort_keys=False)
    lists = "metric_list:\n  - metric: right\n    aggregation: mean\n  - metric: shape\n    aggregation: !function own.middle\n"
    return {
        "by_code": f"{head}process_results: !function own.process_results\n{lists}",
        "code_filter": f"{head}process_docs: !function own.process_docs\nfilter_list:\n  - name: own\n    filter:\n"
        "      - function: custom\n        filter_fn: !function own.shout\n      - function: take_first\n",
    }


_OWN = """
def process_docs(dataset):
    return dataset.filter(lambda doc: doc["topic"] != "water")

def process_results(doc, results):
    found = {"right": float(doc["label"] in results[0])}
    if doc["topic"] == "stones":
        found["stones_only"] = float(len(results[0]))
    found["shape"] = (len(doc["label"]), len(results[0]))
    return found

def middle(items):
    return sorted(size for _, size in items)[len(items) // 2]

def shout(answers, docs):
    return [[text.upper() + doc["mark"] for text in some] for some, doc in zip(answers, docs)]
"""


def _groups() -> dict[str, Values]:
    by_size = [{"metric": "acc", "weight_by_size": True}, {"metric": "exact_match", "weight_by_size": False}]
    mean = [{"metric": "acc", "weight_by_size": False, "aggregation": "mean"}]
    children = {
        "easy": {**_CHOICE, "num_fewshot": 1},
        "hard": {"ref": "letters", "num_fewshot": 2},
        "deep": {"children": {"text": _TEXT}},
    }
    return {
        "mixed_group": {"task": ["choice_plain", "text", "letters"], "aggregate_metric_list": by_size},
        "outer_group": {"task": ["inner_group", "several_gold"], "aggregate_metric_list": mean},
        "inner_group": {"task": ["choice_plain", "letters"], "aggregate_metric_list": [{"metric": "acc_norm"}]},
        "child_group": {"children": children, "aggregate_metric_list": mean},
    }


def write(folder: Path) -> None:
    """Write task files, their code and their rows."""
    made_up.write(folder)
    for name, values in {**_choices(), **_texts(), **_likelihoods(), **_templates()}.items():
        _write(folder, name, yaml.safe_dump({"task": name, **values}, sort_keys=False))
    for name, text in _by_code().items():
        _write(folder, name, f"task: {name}\n{text}")
    for name, values in _groups().items():
        _write(folder, name, yaml.safe_dump({"group": name, **values}, sort_keys=False))
    (folder / "own.py").write_text(_OWN, encoding="utf-8")


def _write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")


_FAST = {"resamples": 40}
"""Bootstrap resamples: enough to see which stream they are drawn from."""


def cases() -> Iterator[Case]:
    """Yield the cases of this dialect."""
    choices, texts, likelihoods = tuple(_choices()), tuple(_texts()), tuple(_likelihoods())
    templates, groups = tuple(_templates()), tuple(_groups())
    everything = (*choices, *texts, *likelihoods)
    lost = {"lost": list(LOST)}
    yield _case("plain", (*everything, *templates))
    yield _case("limit-1", everything, limit=1)
    yield _case("limit-half", everything, limit=0.5)
    yield _case("samples", everything, own={"samples": {name: [1, 4, 6, 9, 12] for name in everything}}, num_demos=3)
    for count in (1, 3, 5):
        yield _case(f"demos-{count}", (*choices, *texts, "last_word", *templates), num_demos=count)
    yield _case("demos-limit", everything, num_demos=3, limit=5)
    yield _case("demos-half", (*choices, *texts), num_demos=4, limit=0.5)
    yield _case("seed-7", (*choices, *texts), num_demos=3, seed=7)
    yield _case("fewshot-seed", ("choice", "balanced", "own_split"), num_demos=3, own={"seed": 99})
    yield _case("ties", (*choices, *likelihoods, *templates), engine={"ties": True})
    yield _case("lost", everything, engine={**lost, "ties": True}, num_demos=2)
    yield _case("messages", (*choices, *texts), num_demos=2, apply_chat_template=True)
    yield _case(
        "one-turn",
        (*choices, *texts),
        num_demos=2,
        apply_chat_template=True,
        demos_as_turns=False,
        system_prompt="Be brief.",
    )
    yield _case("system", everything, num_demos=1, system_prompt="Be brief.")
    yield _case("as-text", (*choices, *templates), engine={"scores": False}, num_demos=1)
    yield _case("as-text-limit", choices, engine={"scores": False, **lost}, limit=7)
    yield _case("chats", ("text", "filters", "repeats", "choice"), engine={"scores": False, "chats": True}, num_demos=1)
    yield _case("template", ("several@mcq", "several@cloze", "several@generate_until"), num_demos=2)
    yield _case("decoding", texts, decoding={"max_tokens": 5, "temperature": 0.7, "stop": ["er"], "top_p": 0.9})
    yield _case("gen-kwargs", texts, decoding={"temperature": 0.2, "num_beams": 2}, limit=4)
    yield _case("predict-only", ("choice", "text", "repeats"), own={"predict_only": True})
    yield _case("groups", groups, engine={"ties": True})
    yield _case("groups-lost", groups, engine=lost, limit=8)
    yield _case("group-part", ("outer_group", "child_group", "choice"), num_demos=2, limit=0.5)
    yield Case("code", ("by_code", "code_filter"), _options(own={}), {}, trusts_code=True)
    yield Case("code-lost", ("by_code", "code_filter"), _options(own={}, limit=9, num_demos=2), lost, trusts_code=True)


def _case(
    name: str, exams: tuple[str, ...], engine: Values | None = None, own: Values | None = None, **options: Any
) -> Case:
    return Case(name, exams, _options(own=own or {}, **options), engine or {})


def _options(own: Values, **options: Any) -> Values:
    return {"include_paths": (".",), **_FAST, **own, **options}
