# ruff: noqa: E501 - a case a line
"""Cases for ``operators.py``: each operator of the catalog's kinds with rows that try what it does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TABLE = {"header": ["name", "age", "city"], "rows": [["Alex", 26, "Rome"], ["Raj", 34, "A, b"], ["Donald", 39, None]]}
_TWICE = {"header": ["a", "b", "a", "a"], "rows": [[1, 2.5, "x", True], [3, 4.0, 'y "q"', False]]}
_LONG = {"header": ["a", "b"], "rows": [["short", "x" * 30], ["y" * 16, 3]]}


def _op(kind: str, **fields: Any) -> dict[str, Any]:
    return {"__type__": kind, **fields}


def _t(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"test": list(rows)}


_NUMBERED = [{"a": i, "b": i % 3, "c": f"t{i % 5}", "l": ["x", "y", i]} for i in range(25)]
_TWO = {"train": _NUMBERED[:17], "test": _NUMBERED[17:]}
_NESTED = _t({"a": {"b": [1, {"c": "x"}], "d": {"e": 2}}, "f": "g", "l": [3, 1, 2]})
_TOKENS = {"labels": [1, 2, 0, 3], "tokens": ["John", "Doe", "of", "OpenAI"], "text": "John  Doe of OpenAI."}
_DIALOG = [{"role": "user", "content": "hi"}, {"role": "user", "content": "you"}, {"role": "assistant", "content": "yes"},
           {"role": "user", "content": "bye"}]  # fmt: skip

OPERATOR_CASES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (_op("set", fields={"x": 1, "a/b": 2, "y/0/z": "q"}), _t({"a": {"c": 1}}, {"a": 3})),
    (_op("set", fields={"x": [1]}, use_deepcopy=True), _t({}, {"x": 2})),
    (_op("set", fields={"x": 1}, apply_to_streams=["train"]), _TWO),
    (_op("set", fields={"x": 1}, dont_apply_to_streams=["train"]), _TWO),
    (_op("copy", field="a/b/1/c", to_field="z"), _NESTED),
    (_op("copy", field_to_field={"a/d": "q", "f": "g/h"}), _NESTED),
    (_op("copy", field_to_field=[["f", "a"], ["a", "w"]]), _NESTED),
    (_op("copy", field="nope", to_field="z"), _NESTED),
    (_op("copy", field="nope", to_field="z", not_exist_ok=True, get_default=7), _NESTED),
    (_op("copy", field="nope", to_field="z", not_exist_do_nothing=True), _NESTED),
    (_op("copy", field="a/b/*", to_field="z"), _NESTED),
    (_op("copy", field="l", to_field="q/*", set_every_value=True), _NESTED),
    (_op("rename", field_to_field={"a/d/e": "n"}), _NESTED),
    (_op("rename", field_to_field={"f": "a/new"}), _NESTED),
    (_op("rename", field="a", to_field="a/inner"), _NESTED),
    (_op("rename", field_to_field={"a/b": "a/x", "f": "y"}), _NESTED),
    (_op("rename", field="none", to_field="x"), _NESTED),
    (_op("rename_fields", field_to_field={"f": "y"}), _NESTED),
    (_op("move", field="a/d", to_field="top"), _NESTED),
    (_op("remove_fields", fields=["a", "f"]), _NESTED),
    (_op("remove_fields", fields=["zz"]), _NESTED),
    (_op("select_fields", fields=["f"]), _t({"f": 1, "g": 2, "data_classification_policy": ["x"], "recipe_metadata": {}})),
    (_op("add_fields", fields={"x": 3}), _NESTED),
    (_op("flatten_instances", sep="."), _NESTED),
    (_op("flatten_instances", parent_key="p"), _NESTED),
    (_op("recursive_replace", key="k", map_values={"1": "one"}, remove_values=["2"]),
     _t({"k": "1", "x": [{"k": "2", "y": 1}, {"k": ["1", "2", "3"]}], "z": {"k": {"k": "1"}}})),
    (_op("map_instance_values", mappers={"a": {"1": "hi", "2": "bye"}}), _t({"a": 1}, {"a": "2"}, {"a": None})),
    (_op("map_instance_values", mappers={"a": {"1": "hi"}}), _t({"a": 3})),
    (_op("map_instance_values", mappers={"a": {"1": "hi"}}, strict=False), _t({"a": 3}, {"a": [1]})),
    (_op("map_instance_values", mappers={"a": {"1": "hi", "2": "b"}}, process_every_value=True), _t({"a": [1, 2]})),
    (_op("map_instance_values", mappers={"a": {"1": "hi"}}, process_every_value=True), _t({"a": 1})),
    (_op("map_instance_values", mappers={"a/b": {"[1, 2]": "all", "True": "t"}}), _t({"a": {"b": [1, 2]}}, {"a": {"b": True}})),
    (_op("map_values", field="a", mapping={"1": 2}), _t({"a": 1})),
    (_op("list_field_values", fields=["a", "b/c"], to_field="z"), _t({"a": 1, "b": {"c": 2}})),
    (_op("zip_field_values", fields=["a", "b"], to_field="z"), _t({"a": [1, 2, 3], "b": "xy"})),
    (_op("zip_field_values", fields=["a", "b"], to_field="z", longest=True), _t({"a": [1, 2, 3], "b": "xy"})),
    (_op("zip", fields=["a", "b"], to_field="z"), _t({"a": [1, 2, 3], "b": "xy"})),
    (_op("zip_longest", fields=["a", "b"], to_field="z", fill_value=0), _t({"a": [1, 2, 3], "b": "xy"})),
    (_op("interleave_lists_to_dialog_operator", user_turns_field="u", assistant_turns_field="s", to_field="d"),
     _t({"u": ["a", "b"], "s": ["c"]}, {"u": ["a"], "s": ["c"]})),
    (_op("interleave_lists_to_dialog_operator", user_turns_field="u", assistant_turns_field="s", to_field="d"),
     _t({"u": ["a"], "s": ["c", "d"]})),
    (_op("index_of", search_in="l", index_of="x", to_field="z"), _t({"l": [3, 1], "x": 1})),
    (_op("index_of", search_in="l", index_of="x", to_field="z"), _t({"l": [3, 1], "x": 9})),
    (_op("take_by_field", field="l", index="x", to_field="z"), _t({"l": [3, 1], "x": 1}, {"l": {"k": 2}, "x": "k"})),
    (_op("take_by_field", field="l", index="x"), _t({"l": [3, 1], "x": -1})),
    (_op("add_constant", field="a", add="x"), _t({"a": "y"})),
    (_op("add_constant", field="a", add=2.5, to_field="b"), _t({"a": 1})),
    (_op("shuffle_field_values", field="l"), _NESTED),
    (_op("join_str", field="l", separator="-"), _NESTED),
    (_op("join", field="l", by="-"), _t({"l": ["a", "b"]})),
    (_op("bytes_to_string", field="a"), _NESTED),
    (_op("get_item_by_index", field="a", items_list=["x", "y"], to_field="b"), _t({"a": 1})),
    (_op("cast", field="a", to="int"), _t({"a": "3"}, {"a": 2.7})),
    (_op("cast", field="a", to="int"), _t({"a": "x"})),
    (_op("cast", field="a", to="float", failure_default=None), _t({"a": "x"}, {"a": "2"})),
    (_op("cast", field="a", to="bool", process_every_value=True), _t({"a": ["", "x"]})),
    (_op("cast", field="a", to="tuple"), _t({"a": [1, 2]})),
    (_op("cast_fields", fields={"a/d": "float", "b": "int"}, failure_defaults={"a/d": 0.0, "b": 0}, process_every_value=True),
     _t({"a": {"d": ["half", "0.6", 1, 12]}, "b": ["2"]})),
    (_op("cast_fields", fields={"a": "str"}), _t({"a": 1.0}, {"a": None})),
    (_op("cast_fields", fields={"a": "int"}), _t({"a": None})),
    (_op("fillna", field="a", value=0), _t({"a": "x"}, {"a": 1.5}, {"a": None})),
    (_op("divide_all_fields_by", divisor=2.0), _t({"a": 10.0, "b": [2.0, 4.0], "c": 5, "d": {"e": 1.0}})),
    (_op("divide_all_fields_by", divisor=2.0, strict=True), _t({"a": 10.0, "c": 5})),
    (_op("intersect_corresponding_fields", field="l", allowed_values=["b", "f"], corresponding_fields_to_intersect=["p"]),
     _t({"l": ["a", "b"], "p": [0, 1], "o": "n"}, {"l": ["a", "f", "b"], "p": [0, 1, 2]})),
    (_op("intersect_corresponding_fields", field="l", allowed_values=["b"], corresponding_fields_to_intersect=["p"]),
     _t({"l": ["a", "b"], "p": [0]})),
    (_op("remove_values", field="l", unallowed_values=[1, "x"]), _NESTED),
    (_op("remove_values", field="f", unallowed_values=[1]), _NESTED),
    (_op("perturb", field="a", to_field="p", percentage_to_perturb=60, select_from=[0, 1, 2]), _t(*_NUMBERED)),
    (_op("perturb", field="c", to_field="p", percentage_to_perturb=100), _t(*_NUMBERED)),
    (_op("encode_labels", fields=["a", "b/*"]), _t({"a": "red", "b": ["red", "blue"]}, {"a": "blue", "b": ["green"]})),
    (_op("execute_expression", expression="a+b", to_field="c"), _t({"a": 2, "b": 3}, {"a": "x", "b": "y"})),
    (_op("execute_expression", expression="[w.upper() for w in a.split() if len(w) > b]", to_field="c/d"),
     _t({"a": "one three", "b": 3})),
    (_op("execute_expression", expression="re.sub('[aeiou]', '*', a)", imports_list=["re"], to_field="c"), _t({"a": "hello"})),
    (_op("execute_expression", expression="{k: v for k, v in zip(a, sorted(a, key=lambda x: -x))}", to_field="c"), _t({"a": [1, 2]})),
    (_op("execute_expression", expression="f'{a:>5}|{b!r:4}' + ('x' if a else 'y')", to_field="c"), _t({"a": 2, "b": "q"})),
    (_op("execute_expression", expression="nope + 1", to_field="c"), _t({"a": 2})),
    (_op("filter_by_expression", expression="a > 3 and b in [0, 1]"), _TWO),
    (_op("filter_by_expression", expression="a > 300"), _TWO),
    (_op("filter_by_expression", expression="a > 300", error_on_filtered_all=False), _TWO),
    *((_op("filter_by_condition", values={"a": 5}, condition=name), _TWO) for name in ("gt", "ge", "lt", "le", "ne")),
    (_op("filter_by_condition", values={"a": 5}, condition="eq", error_on_filtered_all=False), _TWO),
    (_op("filter_by_condition", values={"b": [0, 2], "c": ["t1", "t2"]}, condition="in"), _TWO),
    (_op("filter_by_condition", values={"b": [0]}, condition="not in"), _TWO),
    (_op("filter_by_condition", values={"l/2": 4}, condition="gt"), _TWO),
    (_op("filter_by_condition", values={"zz": 4}, condition="gt"), _TWO),
    (_op("filter_by_condition", values={"zz": False}, condition="exists"), _TWO),
    (_op("filter_by_condition", values={"a": True}, condition="exists"), _TWO),
    (_op("filter_by_condition", values={"a": 4}, condition="about"), _TWO),
    (_op("filter_by_condition_based_on_fields", values={"a": "b"}, condition="gt"), _TWO),
    (_op("filter_by_condition_based_on_fields", values={"a": "l"}, condition="in"), _TWO),
    (_op("deduplicate", by=["b"]), _TWO),
    (_op("deduplicate", by=["b", "c"]), _TWO),
    (_op("stream_refiner", max_instances=4), _TWO),
    (_op("stream_refiner", max_instances=4, apply_to_streams=["test"]), _TWO),
    (_op("deterministic_balancer", fields=["b"]), _TWO),
    (_op("deterministic_balancer", fields=["b"], max_instances=7), _TWO),
    (_op("length_balancer", fields=["c", "l"], segments_boundaries=[3, 6]), _TWO),
    (_op("minimum_one_example_per_label_refiner", fields=["b"], max_instances=6), _TWO),
    (_op("minimum_one_example_per_label_refiner", fields=["b"], max_instances=2), _TWO),
    (_op("shuffle", page_size=10), {"test": _NUMBERED}),
    (_op("feature_grouped_shuffle", page_size=10, grouping_features=["b"]), {"test": _NUMBERED}),
    (_op("feature_grouped_shuffle", page_size=10, grouping_features=["b"], shuffle_within_group=True), {"test": _NUMBERED}),
    (_op("add_incremental_id", to_field="id"), _TWO),
    (_op("duplicate_instances", num_duplications=2, duplication_index_field="i"), _TWO),
    (_op("collate_instances", batch_size=4), _TWO),
    (_op("collate_instances", batch_size=2), _t({"a": 1, "data_classification_policy": ["x"]}, {"a": 2, "data_classification_policy": ["w"]})),
    (_op("collate_instances_by_field", by_field="b", aggregate_fields=["a", "c", "l"]), _TWO),
    (_op("collate_instances_by_field", by_field="b", aggregate_fields=["a"]), _TWO),
    (_op("merge_streams"), _TWO),
    (_op("merge_streams", streams_to_merge=["test"], new_stream_name="x", add_origin_stream_name=False), _TWO),
    (_op("delete_splits", splits=["train", "zz"]), _TWO),
    (_op("duplicate_split", split="train", to_split="copy"), _TWO),
    (_op("extract_most_common_field_values", field="b", stream_name="train", to_field="z", overall_top_frequency_percent=60), _TWO),
    (_op("extract_most_common_field_values", field="l", stream_name="train", to_field="z", min_frequency_percent=10, process_every_value=True), _TWO),
    (_op("extract_field_values", field="c", stream_name="test", to_field="z"), _TWO),
    (_op("extract_field_values", field="l", stream_name="test", to_field="z"), _TWO),
    (_op("split_by_nested_group", number_of_fusion_generations=1), _t({"group": "a/b"}, {"group": "c"}, {"group": "a/d"})),
    (_op("split_by_nested_group", number_of_fusion_generations=-1), _t({"group": "a/b"}, {"group": "c"}, {"group": "a/d"})),
    (_op("join_streams", left_stream="l", right_stream="r", how="inner", on=["k"], new_stream_name="n"),
     {"l": [{"k": 1, "x": "a", "data_classification_policy": ["p"], "recipe_metadata": {}}, {"k": 2, "x": "b", "data_classification_policy": ["p"], "recipe_metadata": {}}],
      "r": [{"k": 2, "y": "c", "data_classification_policy": ["p"], "recipe_metadata": {}}, {"k": 2, "y": "d", "data_classification_policy": ["p"], "recipe_metadata": {}}]}),
    (_op("join_streams", left_stream="l", right_stream="r", how="left", left_on=["k"], right_on=["q"], new_stream_name="n"),
     {"l": [{"k": 1, "x": "a", "data_classification_policy": ["p"], "recipe_metadata": {}}], "r": [{"q": 1, "y": 2.5, "data_classification_policy": ["p"], "recipe_metadata": {}}]}),
    (_op("rename_splits", mapper={"train": "test", "test": "train"}), _TWO),
    (_op("rename_splits", mapper={"train": "dev"}), _TWO),
    (_op("rename_splits", mapper={"nope": "dev"}), _TWO),
    (_op("split_random_mix", mix={"train": "train[60%]", "validation": "train[40%]", "test": "test"}), _TWO),
    (_op("split_random_mix", mix={"train": "train[0.5]+test[0.3]", "test": "test[0.3]"}), _TWO),
    (_op("split_random_mix", mix={"train": "train[x]"}), _TWO),
    (_op("separate_split", from_split="train", to_split_names=["t1", "t2"], to_split_sizes=[5]), _TWO),
    (_op("separate_split", from_split="train", to_split_names=["t1", "t2"], to_split_sizes=[5, 3], remove_targets_from_source_split=False), _TWO),
    (_op("slice_split", slices={"train": "train[:5]+test[3:]", "test": "train[5:3]"}), _TWO),
    (_op("split", field="a", by=","), _t({"a": "x,y"})),
    (_op("regex_split", field="a", by="[,;]\\s*"), _t({"a": "x, y;z"})),
    (_op("regex_replace", field="a", pattern="(x)+", replacement="<\\1>"), _t({"a": "xxy"}, {"a": 3})),
    (_op("replace", field="a", old="x", new="y"), _t({"a": "xx"})),
    (_op("map_replace", field="a", mapping={"a": "b", "b": "c"}), _t({"a": "ab"})),
    (_op("strip", field="a"), _t({"a": " x\n"})),
    (_op("format_text", text="{a}-{b[0]:>3}-{c!r}", to_field="z"), _t({"a": 1, "b": [2], "c": "q"})),
    (_op("dictify", field="a", with_keys=["x", "y"]), _t({"a": (1, 2)}, {"a": [1]})),
    (_op("dict_to_tuples_list", field="a"), _t({"a": {"x": 1}})),
    (_op("flatten", field="a"), _t({"a": [1, [2, [3, (4,)]]]})),
    *((_op("wrap", field="a", inside=kind), _t({"a": 1})) for kind in ("list", "tuple", "set")),
    (_op("chunk", field="a", size=2), _t({"a": [1, 2, 3]})),
    (_op("slice", field="a", start=1, step=2), _t({"a": [1, 2, 3, 4]}, {"a": "abcd"})),
    (_op("get", field="a", item=-1), _t({"a": [1, 2]})),
    (_op("get", field="a", item="k", to_field="b"), _t({"a": {"k": 2}})),
    (_op("pop", field="a", item=-1, to_field="b"), _t({"a": [1, 2]})),
    (_op("pop", field="a", item="k", to_field="b"), _t({"a": {"k": 1, "j": 2}})),
    (_op("get_length", field="a", to_field="n"), _t({"a": [1, 2]})),
    (_op("filter", field="a", values=[1, "k"]), _t({"a": [1, 2]}, {"a": {"k": 1, "j": 2}})),
    (_op("explode", field="a", to_field="x"), _t({"a": [1, 2], "b": 3}, {"a": [], "b": 4})),
    (_op("duplicate_by_list", field="a", use_deep_copy=True), _t({"a": [1, 2], "b": [3]})),
    (_op("duplicate_by_sub_lists", field="a", to_field="x", start=2, step=2), _t({"a": [1, 2, 3, 4, 5]})),
    (_op("duplicate_by_sub_lists", field="a", end=-1), _t({"a": [1, 2, 3]})),
    (_op("to_dialog", field="a"), _t({"a": [["q", "a"], ["r", "s"]]})),
    (_op("serialize_dialog", field="d", format=_op("system_format"), to_field="t"), _t({"d": [{"user": "a", "system": "b"}, {"user": "c", "system": "d"}]})),
    (_op("serialize_dialog", field="d", format=_op("system_format", demo_format="U: {source}\nS: {target}\n"), to_field="t", last_response_to_field="r", context_field="c"),
     _t({"c": "ctx", "d": [{"user": "a", "system": "b"}, {"user": "c", "system": "d"}]})),
    (_op("serialize_dialog", field="d", format=_op("system_format", demo_format="U: {source}\nS: {target}\n"), to_field="t", slice_first_and_last_turns_format=False),
     _t({"d": [{"user": "a", "system": "b"}]})),
    (_op("serialize_open_ai_format_dialog", field="d", format=_op("system_format", demo_format="U: {source}\nS: {target}\n"), to_field="t", last_response_to_field="r"),
     _t({"d": _DIALOG}, {"d": _DIALOG[:3]})),
    (_op("serialize_open_ai_format_dialog", field="d", format=_op("system_format"), to_field="t"), _t({"d": [{"role": "system", "content": "x"}]})),
    (_op("iob_extractor", labels=["P", "O"], begin_labels=[1, 3], inside_labels=[2, 4], outside_label=0), _t(_TOKENS)),
    (_op("iob_extractor", labels=["P"], begin_labels=[1], inside_labels=[2], outside_label=0), _t({**_TOKENS, "text": "other"})),
    (_op("load_json", field="a"), _t({"a": '{"x": [1]}'}, {"a": '"line\nend"'})),
    (_op("load_json", field="a"), _t({"a": "{"})),
    (_op("load_json", field="a", allow_failure=True, failure_value=[]), _t({"a": "{"}, {"a": "1"})),
    (_op("dump_json", field="a"), _t({"a": {"x": "é"}})),
    (_op("json_str_to_dict", field="a"), _t({"a": '{"x": 1, "y": null}'}, {"a": "["}, {"a": "[1]"})),
    (_op("python_call_processor", field="a"), _t({"a": "f(1, x='a', y=[2])"})),
    (_op("tool_call_post_processor", field="a"), _t({"a": 'x {"name": "f", "arguments": {}} y'}, {"a": "[]"}, {"a": '[{"name": "f", "arguments": {"a": 1}}]'})),
    (_op("tool_call_post_processor", field="a", allow_failure=True, failure_value="no"), _t({"a": "nothing"}, {"a": '{"name": 1}'})),
    (_op("multiple_tool_call_post_processor", field="a", allow_failure=True), _t({"a": '{"name": "f", "arguments": {}}'}, {"a": "x"}, {"a": "[]"})),
    (_op("fix_json_schema_of_parameter_types", main_field="t"),
     _t({"t": [{"type": "dict", "properties": {"x": {"type": "float", "description": "d"}, "y": {"type": "List[int]"},
               "z": {"type": "Union[str, int]"}, "w": {"type": "int, optional, default=3"}, "type": {"type": "Tuple[str, int]"}}}]})),
    (_op("serialize_triples", field="a"), _t({"a": [["A", "REL", "B"], ["C", "Of", "D"]]})),
    (_op("serialize_key_val_pairs", field="a"), _t({"a": {"x": 1, "y": "z"}}, {"a": {}})),
    (_op("list_to_key_val_pairs", fields=["k", "v"], to_field="z"), _t({"k": ["a", "b"], "v": [1, 2]})),
    (_op("serialize_table_row_as_text", fields=["a", "b"], to_field="z", max_cell_length=4), _t({"a": "abcdefg", "b": 12345678})),
    (_op("serialize_table_row_as_list", fields=["a", "b"], to_field="z"), _t({"a": "abcdefg", "b": None})),
    (_op("map_table_lists_to_std_table_json", field="a"), _t({"a": [["h1", "h2"], [1, 2]]})),
    (_op("map_html_table_to_json", field="a"),
     _t({"a": "<table><thead><tr><th>a</th><th>b &amp; c</th></tr></thead><tbody><tr><td>1</td><td>x<b>y</b></td></tr><tr><td></td><td>3</td></tr></tbody></table>"})),
    (_op("construct_table_from_rows_cols", fields=["h", "r", "c"], to_field="t"), _t({"h": "['a']", "r": "[[1]]", "c": "cap"})),
    (_op("get_num_of_table_cells", field="t", to_field="n"), _t({"t": TABLE})),
    (_op("truncate_table_cells", table="t", max_length=10, text_output="o"), _t({"t": _LONG, "o": ["x" * 30, "short"]})),
    (_op("convert_table_col_names_to_sequential", field="t"), _t({"t": TABLE})),
    (_op("truncate_table_rows", field="t", rows_to_keep=10), _t({"t": TABLE})),
    (_op("parse_csv", field="a"), _t({"a": 'x,y\n1,"a, b"\n'})),
    (_op("parse_csv", field="a", separator="\t", has_header=False, strip_cells=True), _t({"a": "x \ty\n1\t2\n"})),
    (_op("parse_csv", field="a", skip_header=True), _t({"a": "x,y\n1,2\n"})),
    (_op("apply", function="str.lower", to_field="b", _argv=["a"]), _t({"a": "ABC"})),
    (_op("apply", function="json.loads", to_field="b", _argv=["a"]), _t({"a": "[1]"})),
    (_op("sequential_operator", steps=[_op("set", fields={"x": 1}), _op("rename", field="x", to_field="y/z"), _op("filter_by_condition", values={"a": 3}, condition="gt", error_on_filtered_all=False)]), _TWO),
    (_op("apply_operators_field", operators_field="ops"), _t({"ops": ["processors.to_string", "processors.first_character"], "prediction": 111, "references": [222, 333]})),
    (_op("hash_image", field="zz"), _NESTED),
]  # fmt: skip

_CALL = {"name": "f", "arguments": {"x": [1]}}
_TOOL = {"name": "f", "description": "d", "parameters": {"type": "object"}}

SERIALIZER_CASES: list[tuple[dict[str, Any], Any]] = [
    *((_op(f"serialize_table_as_{name}"), table) for name in ("markdown", "html", "json", "df_loader", "indexed_row_major", "concatenation") for table in (TABLE, _TWICE)),
    *((_op("serialize_table_as_markdown", shuffle_rows=rows, shuffle_columns=columns, seed=seed), TABLE) for rows in (True, False) for columns in (True, False) for seed in (0, 7)),
    (_op("serialize_table_as_markdown"), {"header": [], "rows": []}),
    *((_op("multi_type_serializer"), given) for given in (TABLE, "text", 3, 2.5, None, ["a", 1], {"a": 1}, _CALL, [_CALL], [{"role": "user", "content": "x"}], {"title": "T", "body": "B"}, [{"title": "T", "body": "B"}], (1, 2), [_TOOL])),
    (_op("multi_type_serializer", serializers=[_op("list_serializer"), _op("dict_as_json_serializer"), _op("number_serializer")]), ["a", 1]),
    (_op("multi_type_serializer", serializers=[_op("list_serializer"), _op("dict_as_json_serializer"), _op("number_serializer")]), {"a": 1}),
    (_op("multi_type_serializer", serializers=[_op("list_serializer"), _op("dict_as_json_serializer"), _op("number_serializer")]), 2.567),
    (_op("number_quantizing_serializer", quantum=1), 2.6),
    (_op("number_quantizing_serializer", quantum=0.5), 2.6),
    (_op("number_quantizing_serializer"), 3),
    (_op("table_serializer"), TABLE),
    (_op("dialog_serializer"), [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": _CALL}]}]),
    (_op("conversation_serializer"), {"id": "1", "dialog": [{"role": "user", "content": "x"}]}),
    (_op("tools_serializer"), [_TOOL, _TOOL]),
    (_op("default_list_serializer"), ["a", 2]),
    (_op("sql_database_as_schema_serializer"), {"db_id": "x", "db_type": "in_memory", "dbms": None, "data": {"t": {"columns": ["a", "b"], "rows": [[1, 2]]}}}),
]  # fmt: skip


def augmentor_cases() -> Iterator[dict[str, Any]]:
    """Yield augmentors with texts and tables; those that draw from the global generator upstream are left out."""
    texts = ["Hello big  world", " x ", "", "a\tb\nc", 3]
    bodies = [
        _op("augment_whitespace"),
        _op("augment_prefix_suffix"),
        _op(
            "augment_prefix_suffix",
            prefixes=["\n", "\t"],
            prefix_len=4,
            suffixes=None,
            remove_existing_whitespaces=True,
        ),
        _op("augment_prefix_suffix", suffixes={"\n": 2, "\t": 1}, suffix_len=3, prefixes=None),
        _op("null_augmentor"),
        _op("shuffle_table_rows"),
        _op("shuffle_table_columns"),
        _op("transpose_table"),
        _op("mask_columns_names"),
        _op("duplicate_table_rows", row_indices=[0, 2], times=3),
        _op("duplicate_table_columns", column_indices=[1], times=2),
    ]
    for body in bodies:
        for given in [*texts, TABLE, _TWICE]:
            yield {
                "kind": "augmentor",
                "operator": body,
                "fields": ["q"],
                "row": {"input_fields": {"q": given, "r": 1}},
            }


def loader_cases(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield loaders of files, which are written to a folder first."""
    folder.mkdir(exist_ok=True)
    csv, tsv, lines, document, nested = (folder / name for name in ("a.csv", "b.tsv", "c.jsonl", "d.json", "e.json"))
    csv.write_text('id,name,score,flag\n1,"x, y",2.5,True\n2,,3,False\n3,"z",,True\n', encoding="utf-8")
    tsv.write_text("1\tone\n2\ttwo\n", encoding="utf-8")
    rows = [
        {"a": 1, "b": "2", "c": [1, 2], "date": "2020-01-01", "x": None},
        {"a": 2.5, "b": "x", "c": [], "date": "no", "x": 1},
    ]
    lines.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    document.write_text(json.dumps([{"a": 1, "b": None}, {"a": 2}, {"b": "x", "a": 3}]), encoding="utf-8")
    nested.write_text(json.dumps({"x": {"rows": [{"a": 1, "b": {"c": 2}}, {"a": 2, "b": {"c": 3}}]}}), encoding="utf-8")
    bodies = [
        _op("load_csv", files={"train": str(csv)}),
        _op("load_csv", files={"train": str(csv), "test": str(csv)}, loader_limit=2),
        _op("load_csv", files={"train": str(tsv)}, sep="\t", column_names=["id", "word"]),
        _op("load_csv", files={"train": str(tsv)}, sep="\t"),
        _op("load_json_file", files={"train": str(lines)}, lines=True),
        _op("load_json_file", files={"train": str(lines)}, lines=True, loader_limit=1),
        _op("load_json_file", files={"train": str(document)}),
        _op("load_json_file", files={"train": str(nested)}, data_field="x/rows"),
        _op("load_json_file", files={"train": str(nested)}, data_field="x/nope"),
        _op("load_json_file", files={"train": str(nested)}),
        _op(
            "load_from_dictionary",
            data={"train": [{"a": 1}], "test": [{"a": [2]}]},
            data_classification_policy=["public"],
        ),
        _op("load_from_dictionary", data={"train": [{"a": 1}, {"b": 1}]}),
        _op(
            "multiple_source_loader",
            sources=[_op("load_csv", files={"train": str(csv)}), _op("load_json_file", files={"train": str(document)})],
        ),
    ]
    for body in bodies:
        yield {"kind": "loader", "operator": body}
