"""Recipes and benchmarks for the goldens, as catalog JSON, and the cases that ask them."""
# ruff: noqa: E501 - lists of exams

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from conformance.own import made_up
from conformance.own.cases import LOST, Case

Values = dict[str, Any]

_LABELS = list(made_up.LABELS)
_MULTI_CLASS = "templates.classification.multi_class"


def _loader() -> Values:
    return {"__type__": "load_from_dictionary", "data": {"test": made_up.asked(), "train": made_up.pool()}}


def _card(task: Any, *steps: Values, **more: Any) -> Values:
    return {"__type__": "task_card", "loader": _loader(), "preprocess_steps": list(steps), "task": task, **more}


def _set(**fields: Any) -> Values:
    return {"__type__": "set", "fields": fields}


def _rename(**fields: str) -> Values:
    return {"__type__": "rename_fields", "field_to_field": fields}


def _recipe(card: Values, template: Any, **more: Any) -> Values:
    return {"__type__": "dataset_recipe", "card": card, "template": template, **more}


def _task(inputs: Values, references: Values, prediction: str, metrics: list[Any], **more: Any) -> Values:
    return {
        "__type__": "task", "input_fields": inputs, "reference_fields": references, "prediction_type": prediction,
        "metrics": metrics, **more,
    }  # fmt: skip


def _classes() -> Values:
    return _card("tasks.classification.multi_class", _set(classes=_LABELS, text_type="note", type_of_class="verdict"))


def _classifications() -> dict[str, Values]:
    card = _classes()
    demos = {"num_demos": 3, "demos_pool_size": 8}
    several = [f"{_MULTI_CLASS}.{name}" for name in ("default", "title", "instruction")]
    catalog_list = f"{_MULTI_CLASS}.all"
    samplers = {
        "random": {"__type__": "random_sampler"},
        "fixed": {"__type__": "fixed_indices_sampler", "indices": [4, 0, 6]},
        "close": {"__type__": "close_text_sampler", "field": "text"},
        "window": {"__type__": "sliding_window_retriever", "k": 3},
        "fix_k": {"__type__": "fix_k_retriever", "fix_id_list": [2, 5, 1]},
        "numpy": {"__type__": "random_retriever", "seed": 7},
    }
    found = {f"sampler_{name}": _recipe(card, several[0], **demos, sampler=value) for name, value in samplers.items()}
    for place, name in enumerate(("default", "title", "instruction", "empty", "bluebench")):
        found[f"classes_{place}"] = _recipe(card, f"{_MULTI_CLASS}.{name}")
    return {
        **found,
        "several": _recipe(card, several, **demos),
        "listed": _recipe(card, catalog_list, num_demos=[0, 2, 4], demos_pool_size=9, group_by=["text_type"]),
        "grouped": _recipe(_with_metadata(card), several[1], group_by=["topic", ["topic", "group_id"]]),
        "kept_pool": _recipe(card, several[0], **demos, demos_removed_from_data=False, skip_demoed_instances=True),
        "from_test": _recipe(card, several[0], num_demos=2, demos_pool_size=5, demos_taken_from="test"),
        "whole_pool": _recipe(card, several[0], num_demos=2, demos_pool_size=-1, demos_sampling_seed=11),
        "given_pool": _recipe(card, several[0], num_demos=2, demos_pool=_pool()),
        "on_train": _recipe(card, several[0], split="train", max_train_instances=7),
        "refined": _recipe(card, several[0], test_refiner={"__type__": "shuffle"}, max_test_instances=8),
        "augmented": _recipe(card, several[0], augmentor="augmentors.text.whitespace_prefix_suffix"),
        "loader_limit": _recipe(card, several[0], loader_limit=9, num_demos=1, demos_pool_size=4),
        "chosen_metrics": _recipe(card, several[0], metrics=["metrics.accuracy", "metrics.f1_weighted", "metrics.rouge"]),
        "no_processor": _recipe(card, several[0], postprocessors=["processors.to_string"]),
        "processors": _recipe(
            card, several[0], postprocessors=["processors.take_first_word", "processors.lower_case", "processors.to_string_stripped"]
        ),
    }  # fmt: skip


def _with_metadata(card: Values) -> Values:
    task = _task(
        {"text": "str", "classes": "List[str]", "text_type": "str", "type_of_class": "str", "topic": "str", "group_id": "int"},
        {"label": "str"}, "str", ["metrics.accuracy", "metrics.f1_macro"],
    )  # fmt: skip
    return {**card, "task": task}


def _pool() -> list[Values]:
    return [
        {
            "text": row["text"],
            "text_type": "note",
            "classes": _LABELS,
            "type_of_class": "verdict",
            "label": row["label"],
        }
        for row in made_up.pool()[:6]
    ]


def _formats() -> dict[str, Values]:
    names = ("chat_api", "llama3_instruct", "user_agent", "human_assistant", "models.mistral.instruction", "empty")
    shown = {"num_demos": 2, "demos_pool_size": 6, "system_prompt": "system_prompts.models.llama2"}
    return {
        f"format_{place}": _recipe(_classes(), f"{_MULTI_CLASS}.instruction", format=f"formats.{name}", **shown)
        for place, name in enumerate(names)
    }


def _choices() -> dict[str, Values]:
    card = _card("tasks.qa.multiple_choice.open", _rename(options="choices", answer="letter"), _rename(gold="answer"))
    demos = {"num_demos": 2, "demos_pool_size": 9}
    names = ("helm", "lm_eval_harness", "mmlu")
    made = {
        f"choice_{name}_{request}": _recipe(card, f"templates.qa.multiple_choice.open.{name}", request=request, **demos)
        for name in names
        for request in ("generate", "choose")
    }
    own = {"__type__": "multiple_choice_template", "input_format": "{question}\n{choices}\n", "target_prefix": "So: ",
           "target_field": "answer"}  # fmt: skip
    return {
        **made,
        "choice_roman": _recipe(card, {**own, "enumerator": "roman", "target_prefix": ""}, request="choose"),
        "choice_full": _recipe(
            card, {**own, "source_choice_format": "{choice_text}", "target_choice_format": "{choice_text}"}
        ),
        "choice_shuffled": _recipe(card, {**own, "shuffle_choices": True}, **demos),
    }


def _texts() -> dict[str, Values]:
    io = {
        "__type__": "input_output_template",
        "input_format": "{question}",
        "output_format": "{word}",
        "target_prefix": "Word: ",
    }
    word = _task({"question": "str"}, {"word": "str"}, "str", ["metrics.accuracy", "metrics.char_edit_dist_accuracy"])
    answers = _card("tasks.qa.open", _rename(references="answers"))
    many = ["metrics.rouge", "metrics.bleu", "metrics.squad", "metrics.token_overlap", "metrics.string_containment", "metrics.wer",
            "metrics.char_edit_distance", "metrics.anls", "metrics.prediction_length", "metrics.sacrebleu",
            "metrics.normalized_sacrebleu", "metrics.jaccard_index_words"]  # fmt: skip
    text = _task({"question": "str", "target_language": "str"}, {"reference": "str"}, "str", many)
    number = _task({"question": "str"}, {"value": "float"}, "float", ["metrics.spearman", "metrics.pearson", "metrics.kendalltau_b",
                   "metrics.mean_squared_error", "metrics.root_mean_squared_error"])  # fmt: skip
    to_number = ["processors.take_first_non_empty_line", "processors.cast_to_float_return_zero_if_failed"]
    binary = _task({"question": "str"}, {"is_so": "int"}, "float", ["metrics.f1_binary", "metrics.accuracy_binary",
                   "metrics.max_f1_binary", "metrics.roc_auc"])  # fmt: skip
    from_yes = ["processors.predictions_yes_1_else_0", "processors.cast_to_float_return_zero_if_failed"]
    labels = _card(
        "tasks.classification.multi_label", _set(classes=_LABELS, text_type="note", type_of_classes="verdicts")
    )
    groups = _task({"question": "str", "group_id": "int", "variant_type": "str"}, {"label": "str"}, "str", [
        "metrics.robustness.group_mean_accuracy", "metrics.robustness.fixed_group_mean_accuracy", "metrics.robustness.fixed_group_pdr_paraphrase_accuracy",
        "metrics.robustness.fixed_group_norm_cohens_h_paraphrase_accuracy", "metrics.robustness.group_mean_token_overlap"])  # fmt: skip

    def said(name: str, processors: list[str]) -> Values:
        return {**io, "output_format": f"{{{name}}}", "target_prefix": "", "postprocessors": processors}

    return {
        "words": _recipe(_card(word), io, num_demos=2, demos_pool_size=5, max_tokens=7, stop=["\n"], temperature=0.3),
        "answers": _recipe(answers, "templates.qa.open.title"),
        "many": _recipe(_card(text, _set(target_language="en")), said("reference", ["processors.to_string_stripped"])),
        "numbers": _recipe(_card(number), said("value", to_number)),
        "binary": _recipe(_card(binary), said("is_so", from_yes)),
        "multi_label": _recipe(labels, "templates.classification.multi_label.title", num_demos=1, demos_pool_size=4),
        "diverse": _recipe(
            labels, "templates.classification.multi_label.title", num_demos=3, demos_pool_size=10,
            sampler={"__type__": "diverse_labels_sampler", "choices": "classes", "labels": "labels"},
        ),
        "variants": _recipe(_card(groups), said("label", ["processors.to_string_stripped", "processors.lower_case"])),
    }  # fmt: skip


_OWN_KEYS = {"request", "max_tokens", "stop", "temperature", "split"}
_OWN_RECIPES = ("given_pool", "sampler_window", "sampler_fix_k", "sampler_numpy")
"""What Unitxt does not have, or takes in another form."""


def plain_recipes(rows: int) -> dict[str, Values]:
    """Return the recipes that Unitxt itself reads, by name, with this many rows in each split."""
    data = {"test": made_up.many("t", rows), "train": made_up.many("p", rows)}
    loader = {**_loader(), "data": data, "data_classification_policy": ["public"]}
    return {
        name: {
            **{key: value for key, value in values.items() if key not in _OWN_KEYS},
            "card": {**values["card"], "loader": loader},
        }
        for name, values in _recipes().items()
        if name not in _OWN_RECIPES and values.get("request") != "choose"
    }


def _benchmarks(recipes: dict[str, Values]) -> dict[str, Values]:
    inner = {"__type__": "benchmark", "subsets": {"words": recipes["words"], "answers": recipes["answers"]}}
    return {
        "bench": {"__type__": "benchmark", "subsets": {"classes": recipes["classes_0"], "choice": recipes["choice_mmlu_choose"]}},
        "deep": {"__type__": "benchmark", "subsets": {"inner": inner, "numbers": recipes["numbers"]}, "max_samples_per_subset": 6},
        "shared": {
            "__type__": "benchmark", "subsets": {"a": recipes["several"], "b": recipes["many"]}, "max_total_samples": 9,
            "format": "formats.user_agent", "num_demos": 0,
        },
    }  # fmt: skip


def _recipes() -> dict[str, Values]:
    return {**_classifications(), **_formats(), **_choices(), **_texts()}


def write(folder: Path) -> None:
    """Write recipes and benchmarks."""
    recipes = _recipes()
    for name, values in {**recipes, **_benchmarks(recipes)}.items():
        (folder / f"{name}.json").write_text(json.dumps(values, indent=1), encoding="utf-8")


def cases() -> Iterator[Case]:
    """Yield the cases of this dialect."""
    recipes = _recipes()
    everything = _files(*recipes)
    benchmarks = _files(*_benchmarks(recipes))
    texts, choices = _files(*_texts()), _files(*_choices())
    demos = _files(
        *(name for name in _classifications() if name.startswith(("sampler", "several", "listed", "kept", "given")))
    )
    lost: Values = {"lost": list(LOST)}
    yield Case("plain", everything)
    yield Case("limit-1", everything, {"limit": 1})
    yield Case("limit-half", everything, {"limit": 0.5})
    yield Case(
        "demos-2",
        _files("classes_0", "classes_4", "choice_roman", "words", "many", "numbers", "sampler_random"),
        {"num_demos": 2},
    )
    yield Case("demos-0", demos, {"num_demos": 0, "limit": 4})
    yield Case("lost", everything, engine={**lost, "ties": True})
    yield Case("all-lost", _files("classes_0", "many"), engine={"lost": [row["mark"] for row in made_up.asked()]})
    yield Case("lost-half", texts, {"limit": 0.5}, lost)
    yield Case("ties", choices, engine={"ties": True})
    yield Case(
        "references", texts, engine={"answers": ["{word}", "{words}", "{word} {words}", "{number}.5", "Item", ""]}
    )
    yield Case("messages", (*demos, *texts), {"apply_chat_template": True, "system_prompt": "Be brief.", "limit": 5})
    yield Case("chats", (*demos, "words.json"), {"limit": 5}, {"scores": False, "chats": True})
    yield Case(
        "template", _files("classes_0", "several"), {"template": f"{_MULTI_CLASS}.title", "num_demos": 1, "limit": 6}
    )
    yield Case("system", everything, {"system_prompt": "Be brief.", "limit": 3})
    yield Case("meta", texts, {"meta_template": _META, "limit": 3})
    yield Case(
        "decoding", texts, {"decoding": {"max_tokens": 5, "temperature": 0.7, "stop": ["er"], "beams": 2}, "limit": 6}
    )
    yield Case("benchmarks", benchmarks)
    yield Case("benchmarks-lost", benchmarks, {"limit": 5}, lost)
    yield Case("one-member", ("bench.json", "numbers.json"), {"num_demos": 1, "limit": 0.4}, {"ties": True})


_META = {
    "begin": "<s>",
    "round": [
        {"role": "HUMAN", "begin": "<human>", "end": "</human>\n"},
        {"role": "BOT", "begin": "<bot>", "end": "</bot>\n", "generate": True},
    ],
}


def _files(*names: str) -> tuple[str, ...]:
    return tuple(f"{name}.json" for name in names)
