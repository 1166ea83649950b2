# ruff: noqa: E501 - a case a line
"""A case for each field that is of one class only, with a value that is not its default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.unitxt.operator_cases import TABLE

Body = dict[str, Any]
Streams = dict[str, list[dict[str, Any]]]
Made = tuple[Body, Streams]


def op(kind: str, **fields: Any) -> Body:
    """Return an artifact as data."""
    return {"__type__": kind, **fields}


def rows(*given: dict[str, Any]) -> Streams:
    """Return rows as the stream ``test``."""
    return {"test": list(given)}


# -- operators ----------------------------------------------------------------------------------------------------

_MANY = [{"a": i, "b": i % 3, "c": f"t{i % 5}", "l": ["x", "y", i]} for i in range(25)]
_DIALOG = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "yes"},
    {"role": "user", "content": "bye"},
    {"role": "assistant", "content": "so"},
]
_PLAIN_FORMAT = op("system_format", demo_format="U: {source}\nS: {target}\n")
_TURNS = [{"user": "a", "system": "b"}, {"user": "c", "system": "d"}]
_WORDS = [
    "Yes, it is.",
    "no",
    "A) b",
    "",
    "[[A]]",
    "Rating: [[7]]",
    " The  Cat sat, on a mat! ",
    "x: 1, y: 2",
    "['a', ('b', 2)]",
    "safe",
    "1,234.5%",
]

OPERATORS: list[Made] = [
    (op("explode_sub_lists", field="a", to_field="x", start=2, end=-1, step=2), rows({"a": [1, 2, 3, 4, 5]})),
    (op("explode_sub_lists", field="a", use_deep_copy=True), rows({"a": [[1], [2]], "b": {"c": 1}})),
    (op("explode", field="a", use_deep_copy=True), rows({"a": [1, 2], "b": {"c": 1}})),
    (op("slice", field="a", stop=-1), rows({"a": [1, 2, 3]})),
    (op("serialize_dialog", field="d", format=_PLAIN_FORMAT, to_field="t", context_field="c", context_separator=" || "), rows({"c": "ctx", "d": _TURNS})),
    (op("serialize_open_ai_format_dialog", field="d", format=_PLAIN_FORMAT, to_field="t", context_field="c", context_separator=" || "), rows({"c": "ctx", "d": _DIALOG})),
    (op("serialize_open_ai_format_dialog", field="d", format=_PLAIN_FORMAT, to_field="t", slice_first_and_last_turns_format=False), rows({"d": _DIALOG})),
    (op("serialize_open_ai_format_dialog", field="d", format=_PLAIN_FORMAT, to_field="t", is_last_turn_user_only=False), rows({"d": _DIALOG})),
    (op("interleave_lists_to_dialog_operator", user_turns_field="u", assistant_turns_field="s", user_role_label="U", assistant_role_label="S", to_field="d"), rows({"u": ["a", "b"], "s": ["c"]})),
    (op("balance", fields=["b"], max_instances=5), rows(*_MANY)),
    (op("length_balancer", fields=["c"], segments_boundaries=[2, 3], max_instances=4), rows(*_MANY)),
    (op("copy_fields", field_to_field={"a": "z"}), rows({"a": [1]})),
    (op("add_fields", fields={"x": [1]}, use_deepcopy=True), rows({"a": 1}, {"a": 2})),
    (op("cast_fields", fields={"a/b": "int"}, use_nested_query=True), rows({"a": {"b": "3"}})),
    (op("extract_field_values", field="c", stream_name="test", to_field="z", overall_top_frequency_percent=50), rows(*_MANY)),
    (op("extract_field_values", field="b", stream_name="test", to_field="z", min_frequency_percent=33), rows(*_MANY)),
    (op("filter_by_condition_based_on_fields", values={"a": "b"}, condition="lt", error_on_filtered_all=False), rows(*_MANY)),
    (op("filter_by_expression", expression="re.match('t[01]', c) is not None", imports_list=["re"]), rows(*_MANY)),
    (op("intersect", field="l", allowed_values=["x", 3]), rows(*_MANY[:5])),
    (op("iterable_source", iterables={"test": [{"a": 1}]}), rows({"a": 2})),
    (op("merge_streams", origin_stream_name_field_name="from"), {"train": [{"a": 1}], "test": [{"a": 2}]}),
    (op("recursive_copy", field="a", to_field="z"), rows({"a": {"b": [1]}})),
    (op("split_by_nested_group", number_of_fusion_generations=1, field_name_of_group="g"), rows({"g": "a/b"}, {"g": "c"})),
    (op("apply_operators_field", operators_field="ops", default_operators=["processors.to_string"]), rows({"prediction": 1, "references": [2]})),
    (op("apply_operators_field", operators_field="ops", default_operators=["processors.to_string"]), rows({"ops": ["processors.first_character"], "prediction": "12", "references": ["34"]})),
    (op("apply_stream_operators_field", field="ops"), rows({"ops": [op("add_fields", fields={"x": 1})], "a": 1})),
    (op("apply_stream_operators_field", field="ops", reversed=True), rows({"ops": [op("set", fields={"x": 1}), op("set", fields={"x": 2})], "a": 1})),
    (op("sequential_operator", steps=[op("set", fields={"x": 1}), op("set", fields={"y": 1}), op("set", fields={"z": 1})], max_steps=2), rows({"a": 1})),
    (op("sequential_operator", steps=[op("set", fields={"x": 1})], max_steps=0), rows({"a": 1})),
    (op("shuffle", page_size=4), rows(*_MANY)),
    (op("normalize_list_fields", fields=["x", "y"]), rows({"x": ["a", "b"], "y": []})),
    (op("normalize_list_fields", fields=["x", "y"], key_prefix="p_", empty_value="none", separator="; "), rows({"x": ["a", "b"], "y": []})),
    (op("match_closest_option", options_field="o", field="p"), rows({"p": "cat", "task_data": {"o": ["a cat", "dog"]}, "o": ["dog", "cats"]})),
    (op("post_process", operator=op("upper"), process_prediction=False), rows({"prediction": "a", "references": ["b"]})),
    (op("post_process", operator=op("upper"), process_references=False), rows({"prediction": "a", "references": ["b"]})),
    (op("post_process", operator=op("upper")), rows({"prediction": "a", "references": ["b"]})),
    (op("tool_call_post_processor", field="a", allow_failure=True, failure_value={"no": 1}), rows({"a": "x"})),
    (op("multiple_tool_call_post_processor", field="a", allow_failure=True, failure_value="no"), rows({"a": "x"})),
    (op("multiple_tool_call_post_processor", field="a"), rows({"a": "x"})),
    (op("parse_csv", field="a", dtype="str"), rows({"a": "x,y\n1,2\n"})),
    (op("parse_csv", field="a", dtype=None), rows({"a": "x,y\n1,2.5\nb,\n"})),
    (op("serialize_table_row_as_list", fields=["a", "b"], to_field="z", max_cell_length=3), rows({"a": "abcdefg", "b": 12345})),
    (op("serialize_table_row_as_text", fields=["a", "b"], to_field="z", max_cell_length=3), rows({"a": "abcdefg", "b": 12345})),
]  # fmt: skip

_PROCESSORS: tuple[Body, ...] = (
    *(op(name) for name in (
        "capitalize", "convert_to_boolean", "dict_of_lists_to_pairs", "extract_arena_hard_numerical_judgment", "extract_harm_rating_judgement",
        "extract_mt_bench_label_judgment", "extract_mt_bench_rating_judgment", "extract_safe_unsafe_judgment", "extract_verbal_judgement_bad_good",
        "extract_verbal_judgment", "first_character", "fix_white_space", "get_sql", "list_to_empty_entities_tuples", "literal_eval", "lower", "lower_case",
        "lower_case_till_punc", "regex_parser", "remove_articles", "remove_punctuations", "scale_number_to_zero_one_return_zero_if_fails", "split_strip",
        "stance_to_pro_con", "str_to_float_format", "take_first_non_empty_line", "take_first_word", "take_last_non_empty_line", "to_list_by_comma",
        "to_list_by_comma_space", "to_string", "to_string_stripped", "to_yes_or_none", "upper", "yes_no_to_int", "yes_to_one_else_zero", "default_serializer",
    )),
    op("add_prefix", prefix="> "),
    op("extract_with_regex", regex="([a-z]+)"),
    op("extract_with_regex", regex="[0-9]+", termination_regex="none"),
    op("get_string_after", substring="a"),
    op("group_dict_with_regex", pattern="(?P<k>[a-z]+): (?P<v>[0-9]+)"),
    op("group_dict_with_regex", pattern="(?P<k>[A-Z]+)", flags=2),
    op("regex_parser", regex="([a-z]+): ([0-9]+)"),
    op("regex_parser", regex="([a-z]+)", termination_regex="\\s*no\\s*"),
    op("split_strip", delimiter=",", strip_every_element=True),
    op("split_strip", delimiter=","),
    op("to_list_by_comma", delimiter=":"),
    op("to_list_by_comma", strip_every_element=False),
    op("to_list_by_comma_space", delimiter=",", strip_every_element=True),
    op("string_equals", string="no"),
    op("string_or_not_string", string="no"),
    op("substring", begin=1, end=3),
    op("substring", begin=2),
    op("dict_of_lists_to_pairs", position_key_before_value=False),
)  # fmt: skip
_GIVEN: tuple[Any, ...] = (*_WORDS, 3, 2.5, True, None, ["a", "b"], {"k": ["a", "b"], "m": ["c"]}, {"k": {"x": 1}})


def processors() -> Iterator[Made]:
    """Yield processors with texts and other values, each value by itself, because one that fails ends a stream."""
    for body in _PROCESSORS:
        for value in _GIVEN:
            yield {**body, "field": "a"}, rows({"a": value})


def logprobs() -> Iterator[Made]:
    """Yield the processor of log-probabilities with each of its fields."""
    tokens = [{"top_tokens": [{"text": text, "logprob": value} for text, value in pairs]} for pairs in (
        [("Yes", -0.1), ("no", -2.0)], [(" the", -0.5), ("yes", -1.5)], [("No", -0.2), ("YES ", -1.0)], [("x", -0.1), ("y", -3.0)])]  # fmt: skip
    for more in (
        {},
        {"take_logprobs_from_end": True},
        {"num_logprobs_to_take": 1},
        {"take_logprobs_from_end": True, "num_logprobs_to_take": 2},
    ):
        yield (
            op("infer_dicts_to_binary_logprobs", field="a", neg_class_name="no", pos_class_name="yes", **more),
            rows({"a": tokens}, {"a": tokens[2:]}, {"a": []}),
        )
    yield op("infer_dicts_to_binary_logprobs", field="a", neg_class_name="x", pos_class_name="y"), rows({"a": tokens})


# -- templates ----------------------------------------------------------------------------------------------------


def _question(references: Body, **fields: Any) -> Streams:
    return rows({"input_fields": fields, "reference_fields": references})


_TEXTS = _question(
    {"label": "good", "labels": ["b", "a"], "ref": "fine"},
    text="hello world",
    title="a long title",
    number=2.5,
    names=["x", "y"],
)
_CHOICES = {"choices": ["bbb", "a", "cc"], "topic": "letters", "question": "which?"}
_CHOICE = _question({"label": 1}, **_CHOICES)
_SPANS = _question(
    {"spans_starts": [0, 9, 4], "spans_ends": [3, 12, 8], "labels": ["P", "O", "P"], "text": "Joe: Ann, IBM"},
    text="Joe: Ann, IBM",
)
_OTHER_SPANS = _question({"s": [0, 9], "e": [3, 12], "k": ["P", "O"], "t": "Joe: Ann, IBM"}, t="Joe: Ann, IBM")
_CALLED = {"labels_field": "k", "spans_starts_field": "s", "spans_ends_field": "e", "text_field": "t"}
_PAIR = _question({"winner": "choice_a"}, x="first", y="second", q="which")
_SIDES = {
    "choice_a_field": "x",
    "choice_b_field": "y",
    "answer_field": "winner",
    "choice_a_label": "A",
    "choice_b_label": "B",
    "choice_tie_label": "C",
    "shuffle": False,
}
_TALK = [["user", "hi"], ["assistant", "yes"], ["system", "be kind"], ["other", "?"]]
_FIELD = op(
    "dialog_fields_data", user_role_label="U:", assistant_role_label="A:", system_role_label="S:", dialog_field="d"
)
_TALKED = _question({"winner": "choice_b"}, d=_TALK, x="first", y="second", q="which")

_BASE: tuple[tuple[Body, Streams], ...] = (
    (op("input_output_template", input_format="{text}", output_format="{label}"), _TEXTS),
    (op("input_output_template_with_custom_target", input_format="{text}", output_format="{label}", reference="{ref}"), _TEXTS),
    (op("json_output_template", input_format="{text}", output_fields={"label": "l", "labels": "ls"}, wrap_with_list_fields=["label"]), _TEXTS),
    (op("key_val_template"), _TEXTS),
    (op("multi_label_template", input_format="{text}"), _TEXTS),
    (op("multi_reference_template", input_format="{text}", references_field="labels"), _TEXTS),
    (op("multiple_choice_template", input_format="{topic} {question} {choices} {numerals}"), _CHOICE),
    (op("yes_no_template", input_format="{text} of {class}?", class_field="class", label_field="labels"), _question({"labels": ["news"], "class": "news"}, text="t", **{"class": "news"})),
    (op("span_labeling_template", input_format="{text}"), _SPANS),
    (op("span_labeling_json_template", input_format="{text}"), _SPANS),
    (op("output_quantizing_template", input_format="{number}", output_format="{label}", quantum=0.5), _question({"label": 3.3}, number=2.26)),
    (op("pairwise_choice_template", input_format="{q} {x} {y}", **_SIDES), _PAIR),
    (op("pairwise_comparative_rating_template", input_format="{q} {x} {y} {xi} {yi}", choice_a_field="x", choice_b_field="y", choice_a_id_field="xi", choice_b_id_field="yi", answer_field="r", shuffle=False), _question({"r": [2]}, x="first", y="second", xi="1", yi="2", q="which")),
    (op("dialog_template", input_format="{d} {q}", output_format="{winner}", dialog_fields=[_FIELD]), _TALKED),
    (op("dialog_pairwise_choice_template", input_format="{d} {q} {x} {y}", dialog_fields=[_FIELD], **_SIDES), _TALKED),
    (op("null_template"), _TEXTS),
    (op("multi_turn_template", references_field="labels", turns_field="turns"), _question({"labels": ["a", "b"]}, turns=[{"role": "user", "content": "hi"}])),
    (op("input_format_template", input_format="{text}"), _TEXTS),
    (op("output_format_template", output_format="{label}"), _TEXTS),
)  # fmt: skip
_EVERY: tuple[Body, ...] = (
    {"instruction": "Do {text} it."},
    {"instruction": "Do it."},
    {"target_prefix": "So: "},
    {"title_fields": ["text", "title"]},
    {"title_fields": ["question", "q", "topic"]},
    {"title_fields": ["not there"]},
    {"postprocessors": ["processors.lower_case"]},
    {"skip_rendered_instance": False},
    {"serializer": op("default_serializer")},
    {
        "serializer": op(
            "multi_type_serializer", serializers=[op("list_serializer"), op("number_quantizing_serializer", quantum=1)]
        )
    },
    {"data_classification_policy": ["public"]},
)
_OF_ONE: dict[str, tuple[Body, ...]] = {
    "input_output_template": ({"output_format": "<{label}>"}, {"input_format": "{no}"}, {"output_format": "{no}"}, {"input_format": "{text} {names} {number}"}),
    "json_output_template": ({"wrap_with_list_fields": []}, {"output_fields": {"label": "x y"}}, {"output_fields": {"no": "x"}}),
    "key_val_template": ({"key_val_separator": "="}, {"outputs_key_val_separator": "="}, {"pairs_separator": "; "}, {"use_keys_for_inputs": False}, {"use_keys_for_outputs": True}),
    "multi_label_template": ({"labels_separator": "; "}, {"empty_label": "nothing"}, {"labels_field": "ref"}, {"output_format": "<{labels}>"}),
    "multi_reference_template": ({"random_reference": True}, {"references_field": "label"}, {"references_field": "no"}),
    "multiple_choice_template": (
        {"choices_field": "options"}, {"target_field": "answer"}, {"choices_separator": " | "}, {"source_choice_format": "({choice_numeral}) {choice_text}"},
        {"target_choice_format": "{choice_numeral}: {choice_text}"}, {"enumerator": "lowercase"}, {"enumerator": "numbers"}, {"enumerator": "roman"}, {"enumerator": "xyz"},
        {"enumerator": ["i", "ii", "iii"]}, {"enumerator": ["i"]}, {"shuffle_choices": True}, {"shuffle_choices": True, "shuffle_choices_seed": 7}, {"shuffle_choices_seed": 7},
        {"sort_choices_by_length": True}, {"sort_choices_alphabetically": True}, {"reverse_choices": True}, {"place_correct_choice_position": 0}, {"place_correct_choice_position": -1},
        {"place_correct_choice_position": 9}, {"sort_choices_by_length": True, "reverse_choices": True}, {"sort_choices_by_length": True, "sort_choices_alphabetically": True},
        {"shuffle_choices": True, "reverse_choices": True}, {"place_correct_choice_position": 1, "reverse_choices": True}, {"place_correct_choice_position": 0, "shuffle_choices": True},
        {"sort_choices_alphabetically": True, "reverse_choices": True},
    ),
    "yes_no_template": ({"yes_answer": "y"}, {"no_answer": "n"}, {"class_field": "no"}, {"label_field": "no"}),
    "span_labeling_template": ({"labels_support": ["P"]}, {"span_label_format": "{label}={span}"}, {"escape_characters": ["n"]}, {"labels_separator": "; "}, {"empty_label": "-", "labels_support": []}, {"output_format": "<{labels}>"}),
    "span_labeling_json_template": ({"labels_support": ["P"]}, {"labels_separator": "; "}, {"empty_label": "-", "labels_support": []}, {"output_format": "<{labels}>"}),
    "output_quantizing_template": ({"quantum": 2}, {"quantum": 0.25}),
    "pairwise_choice_template": ({"choice_a_label": "1"}, {"choice_b_label": "2"}, {"choice_tie_label": "="}, {"answer_field": "no"}, {"choice_a_field": "no"}, {"output_format": "<{winner}>"}),
    "dialog_template": ({"turns_separator": " / "}, {"label_separator": "="}, {"dialog_fields": [{**_FIELD, "dialog_field": "no"}]}, {"dialog_fields": [{**_FIELD, "system_role_label": ""}]}),
    "dialog_pairwise_choice_template": ({"turns_separator": " / "}, {"label_separator": "="}, {"choice_a_label": "1"}),
    "multi_turn_template": ({"turns_field": "no"}, {"random_reference": True}, {"input_format": "{turns}"}),
}  # fmt: skip


def templates() -> Iterator[Made]:
    """Yield templates with each of their fields."""
    for body, streams in _BASE:
        for more in ({}, *_EVERY, *_OF_ONE.get(body["__type__"], ())):
            yield {**body, **more}, streams
        if body["__type__"] in _RENDERED:
            done = {
                **streams["test"][0],
                "source": "S",
                "target": "T",
                "references": ["T"],
                "instruction": "",
                "target_prefix": "",
            }
            yield body, rows(done)
            yield {**body, "skip_rendered_instance": False}, rows(done)
    for kind in ("span_labeling_template", "span_labeling_json_template"):
        yield op(kind, input_format="{t}", **_CALLED), _OTHER_SPANS
    for winner in ("choice_b", "tie", "x", "neither"):
        given = _question({"winner": winner}, x="first", y="second", q="which")
        yield op("pairwise_choice_template", input_format="{q} {x} {y}", **_SIDES), given
    yield (
        op(
            "multiple_choice_template",
            input_format="{question} {choices}",
            target_field="answer",
            choices_field="options",
        ),
        _question({"answer": "a"}, question="q", options=["b", "a"]),
    )
    yield op("multiple_choice_template", input_format="{question} {choices}"), _question({"label": "no"}, **_CHOICES)
    yield op("multiple_choice_template", input_format="{question} {choices}"), _question({"label": 3}, **_CHOICES)


_RENDERED = ("input_output_template", "key_val_template", "multiple_choice_template", "null_template")

# -- formats ------------------------------------------------------------------------------------------------------

_ASKED = {"source": "how?", "target": "so", "references": ["so"], "instruction": "Answer.", "target_prefix": "A: ", "system_prompt": "Be kind.",
          "input_fields": {}, "reference_fields": {}, "demos": [{"source": "1?", "target": "one", "target_prefix": "A: "}, {"source": "2?", "target": "two", "target_prefix": "A: "}]}  # fmt: skip
_BARE = {key: value for key, value in _ASKED.items() if key != "demos"}
_FORMATS: tuple[Body, ...] = (
    op("system_format"),
    op("system_format", demo_format="Q {source}\\NA {target_prefix}{target}\n", model_input_format="{system_prompt}|{instruction}|{demos}|{source}|{target_prefix}"),
    op("system_format", model_input_format="{x}{source}{nothing}", format_args={"x": "X", "nothing": ""}),
    op("system_format", model_input_format="{y}"),
    op("system_format", demos_field="shots", model_input_format="{demos}{source}"),
    op("chat_api_format"),
    op("chat_api_format", place_instruction_in_user_turns=True),
    op("chat_api_format", demos_field="shots"),
)  # fmt: skip


def formats() -> Iterator[Made]:
    """Yield formats with each of their fields."""
    for body in _FORMATS:
        yield body, rows(_ASKED)
        yield body, rows(_BARE)
        yield body, rows({**_BARE, "shots": _ASKED["demos"]})
        yield body, rows({**_BARE, "instruction": "", "system_prompt": "", "target_prefix": ""})
    for text in ("", "Be kind."):
        for more in ({}, {"skip_rendered_instance": False}):
            yield op("textual_system_prompt", text=text, **more), rows(_BARE)
            yield op("textual_system_prompt", text=text, **more), rows({"a": 1})
    for more in ({}, {"skip_rendered_instance": False}):
        yield op("empty_system_prompt", **more), rows(_BARE)


# -- tasks --------------------------------------------------------------------------------------------------------

_TASK = op(
    "task",
    input_fields={"q": "str"},
    reference_fields={"a": "str"},
    prediction_type="str",
    metrics=["metrics.accuracy"],
)
_ROW = {"q": "x", "a": "y", "other": 1}


def tasks() -> Iterator[Made]:
    """Yield tasks with each of their fields."""
    for more in (
        {}, {"defaults": {"q": "d"}}, {"augmentable_inputs": ["q"]}, {"augmentable_inputs": ["no"]}, {"default_template": "templates.empty"},
        {"input_fields": ["q"]}, {"input_fields": {"q": "int"}}, {"reference_fields": {"a": "int"}}, {"prediction_type": "int"}, {"prediction_type": None},
        {"metrics": ["metrics.f1_micro", "metrics.accuracy"]}, {"metrics": ["metrics.nothing"]}, {"defaults": {"no": 1}}, {"data_classification_policy": ["public"]},
    ):  # fmt: skip
        yield {**_TASK, **more}, rows(_ROW)
        yield {**_TASK, **more}, rows({"a": "y"})
    old = {key: value for key, value in _TASK.items() if key not in ("input_fields", "reference_fields")}
    yield {**old, "inputs": {"q": "str"}, "outputs": {"a": "str"}}, rows(_ROW)
    yield {**old, "inputs": ["q"], "outputs": ["a"]}, rows(_ROW)
    yield {**_TASK, "inputs": {"q": "str"}}, rows(_ROW)
    yield {**_TASK, "__type__": "form_task"}, rows(_ROW)


def cases() -> Iterator[Made]:
    """Yield all cases of operators."""
    yield from OPERATORS
    yield from processors()
    yield from logprobs()
    yield from templates()
    yield from formats()
    yield from tasks()


# -- sources ------------------------------------------------------------------------------------------------------


def _source(*splits: str, count: int = 6, name: str = "r") -> Body:
    data = {split: [{"a": f"{name}{split}{i}"} for i in range(count)] for split in splits}
    return op("load_from_dictionary", data=data, data_classification_policy=["public"])


def sources() -> Iterator[Body]:
    """Yield loaders and fusions with each of their fields."""
    more: Body
    two = {"one": _source("train", "test", name="x"), "two": _source("test", name="y")}
    listed = list(two.values())
    for more in (
        {},
        {"max_instances_per_subset": 2},
        {"max_instances_per_split": 3},
        {"include_splits": ["test"]},
        {"max_instances_per_subset": 5, "max_instances_per_split": 7},
    ):
        yield op("fixed_fusion", subsets=two, **more)
        yield op("fixed_fusion", subsets=listed, **more)
    for more in ({}, {"max_total_samples": 4}, {"include_splits": ["test"]}):
        yield op("weighted_fusion", subsets=two, weights={"one": 1, "two": 3}, **more)
        yield op("weighted_fusion", subsets=listed, weights=[2, 1], **more)
    for more in (
        {"loader_limit": 2},
        {"data_classification_policy": ["pii"]},
        {"streaming": True},
        {"num_proc": 2},
        {"loader_limit": 0},
    ):
        yield {**_source("train", "test"), **more}
    for more in ({"split": "test"}, {"loader_limit": 3}, {"data_classification_policy": ["pii"]}):
        yield op("multiple_source_loader", sources=listed, **more)


SERIALIZED: tuple[tuple[Body, Any], ...] = (
    *((op(f"serialize_table_as_{name}", shuffle_rows=True, seed=3), TABLE) for name in ("html", "json", "df_loader", "indexed_row_major", "concatenation")),
    *((op(f"serialize_table_as_{name}", shuffle_columns=True, seed=3), TABLE) for name in ("html", "json", "df_loader", "indexed_row_major", "concatenation")),
    (op("number_quantizing_serializer", quantum=3), 7.7),
    (op("document_serializer"), {"title": "T", "body": "B"}),
    (op("multi_document_serializer"), [{"title": "T", "body": "B"}, {"title": "U", "body": "C"}]),
    (op("tool_call_serializer"), {"name": "f", "arguments": {"x": [1]}}),
    *((op("default_serializer"), given) for given in (1, 1.5, None, [1], {"a": 1}, True)),
    *((op("number_serializer"), given) for given in (1, 1.5, 1.555)),
    *((op("list_serializer"), given) for given in ([1, None], [], [[1]])),
    *((op("dict_as_json_serializer"), given) for given in ({"é": 1}, {})),
)  # fmt: skip
