# ruff: noqa: E501 - a case a line
"""Calls of names in Unitxt's modules, as Python text: what to import, what to set up, and expressions.

Each expression is computed by Unitxt, and by Proctor under Unitxt's names; their values are compared as Python text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.unitxt import api_cases

_NESTED = "D = {'a': {'b': [1, 2, {'c': None}], 'd e': 'x\\ny', '': []}, 'f': {}, 'g': [[1, [2]], {}], 'h': True, 'i': 1.5, 'j': 'q\"q'}"
_TYPED = "T = {'__type__': 'set', 'fields': {'a': [1, {'__type__': 'x'}], 'b': {'__type__': 'rename', 'm': {'k': 1}, 'l': ['p']}}, 'z': 's'}"
_SOURCE = '''L = """card = TaskCard(
    loader=LoadHF(path="x", a=[1,(2)]),
    __description__=(
        "text ((( with [ brackets"
        "more"
    ),
    task="t",
)
other = 1
x = f(
    __description__="bla (( ",
    b=2,
)
""".splitlines()'''
_CLASSES = """class G(Dataclass):
    a: int
    b: int
class P(G):
    a = 1
class C(P):
    c: list = Field(default_factory=list)
class R(Dataclass):
    a: int = RequiredField()
    b: int = OptionalField(default=2)
    n: int = NonPositionalField(default=3)
    i: int = InternalField(default=4)
class A(Dataclass):
    a: int = AbstractField()
class F(Dataclass):
    a: int = FinalField(default=1)
class U(Dataclass):
    __allow_unexpected_arguments__ = True
    a: int = 1
def made(base, **body):
    return type("Made", (base,), {"__annotations__": {"a": int}, "__qualname__": "Made", **body})"""
_DEMOS = """pool = [{"input_fields": {"q": str(i % 4)}, "reference_fields": {"a": str(i)}} for i in range(9)]
def drawn(kind, size=3, removed=True, **more):
    test = [{"input_fields": {"q": f"z{i}"}, "reference_fields": {"a": "9"}} for i in range(3)]
    streams = MultiStream.from_iterables({"train": [dict(each) for each in pool], "test": test}, copying=True)
    streams = CreateDemosPool(from_stream="train", demos_pool_size=size, demos_removed_from_data=removed)(streams)
    streams = kind(from_field="_demos_pool_", to_field="demos", sampler=RandomSampler(), **more)(streams)
    return {name: [([d["reference_fields"]["a"] for d in row["demos"]], sorted(row)) for row in rows] for name, rows in streams.items()}"""
_TEMPLATES = """one = InputOutputTemplate(input_format="Q {q}", output_format="{a}")
two = InputOutputTemplate(input_format="W {q}", output_format="{a}")
def said(step):
    demo = {"input_fields": {"q": "d"}, "reference_fields": {"a": "y"}}
    rows = [{"input_fields": {"q": str(i)}, "reference_fields": {"a": "x"}, "demos": [demo]} for i in range(4)]
    streams = step(MultiStream.from_iterables({"test": rows}, copying=True))
    return [(row["source"], row["target"], [each.get("source") for each in row["demos"]]) for row in streams["test"]]"""
_GROUPS = """import json
rows = [{"i": i, "subset": ["a" if i % 2 else "b", "c"], "groups": [json.dumps({"k": i % 3})]} for i in range(5)]
def split(depth):
    return SplitSubsetsAndGroups(subset_depth=depth)(MultiStream.from_iterables({"all_data": rows}, copying=True))
def scored():
    found = {}
    for name, stream in split(2).items():
        members = list(stream)
        mean = sum(each["i"] for each in members) / len(members)
        for each in members:
            each["score"] = {"global": {"score": mean, "score_name": "m", "num_of_instances": len(members)}, "instance": {"score": each["i"]}}
        found[name] = members
    joined = JoinSubsetsAndGroups()(MultiStream.from_iterables(found, copying=True))
    return [(row["i"], row["score"]) for row in joined["all_data"]]"""
_METRICS = """def scored(metrics):
    rows = [{"prediction": p, "references": [r], "task_data": {}, "metrics": metrics} for p, r in zip("abcab", "abbba")]
    step = ApplyMetric("metrics", calc_confidence_intervals=False)
    return [{part: dict(sorted(row["score"][part].items())) for part in ("global", "instance")} for row in step(MultiStream.from_iterables({"t": rows}))["t"]]"""
_DATABASE = """class Database:
    def execute_query(self, query):
        if "boom" in query:
            raise RuntimeError("x")
        if "err" in query:
            return None, "bad"
        return [{"a": 1}, {"a": 2}] if "all" in query else [{"a": 1}], None
def shown(found):
    return {name: value for name, value in vars(found).items() if "runtime" not in name and name != "error_message"}"""

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("from unitxt.deprecation_utils import *", "", (
        *(f"compare_versions({pair})" for pair in ("'1.2', '1.2.0'", "'1.10', '1.9'", "'2', '10'", "'1.0.1', '1.0'", "'x', '1'")),
        "deprecation('99.0.0', alternative='y')(lambda: 5)()", "deprecation('0.0.1')(lambda: 5)()",
    )),
    ("from unitxt.text_utils import *", f"{_NESTED}\n{_TYPED}\n{_SOURCE}", (
        *(f"{call}({value}, {indent})" for call in ("construct_dict_as_yaml_lines", "construct_dict_as_python_lines", "print_dict_as_python", "print_dict_as_yaml")
          for value in ("D", "T", "{}", "{'__type__': 'q'}", "[1, {'a': 2}]", "[]") for indent in (2, 4)),
        "construct_dict_as_python_lines({'a': object})", "construct_dict_as_yaml_lines({'a': [1]}, 1)",
        *(f"lines_defining_obj_in_card(L, {name!r}, {start})" for name in ("card", "loader", "__description__", "task", "other", "nope", "x =") for start in (0, 8)),
        *(f"{call}({text!r})" for call in ("split_words", "is_camel_case", "is_snake_case", "camel_to_snake_case") for text in ("HelloWorld", "hello_world2", "Hello-World 12", "aB", "HTMLParser2X", "__x")),
    )),
    ("from unitxt.parsing_utils import *", "", (
        *(f"{call}({text!r})" for call in ("separate_inside_and_outside_square_brackets", "consume_query") for text in (
            "metrics.a", "metrics.a[b=1]", "a[b=[1,2],c={d=e},f=x[y=1]]", "a[b=1", "a]b[", "a[b=True,c=None,d=1.5,e=-3]", "x[y[z=1]]", " a [b = c] ")),
        *(f"parse_key_equals_value_string_to_dict({text!r})" for text in ("a=1,b=x", "a=[1,2],b={c=3}", "a=x[b=1]", "a=1,,b=2", "a", "a=None,b=true,c=1e3,d='x'", "a=1 2 3, b = x y ")),
    )),
    ("from typing import *\nfrom unitxt.type_utils import *", "", (
        *(f"infer_type_string({value})" for value in ("7", "'x'", "2.5", "True", "None", "[1, 2]", "[]", "[[], [7]]", "{'a': 7}", "{}", "(1, 'a')", "()", "[1, True]", "[1.5, 1]", "{'a': [1], 'b': ['x']}", "[{'a': 1}, {'b': 'x'}]", "{1: 2, 'a': 3}", "[(1, 2), (1, 'x')]", "[None, 1]")),
        *(f"{call}({text!r})" for call in ("format_type_string", "convert_union_type") for text in ("int|str", "list[int|float]", "typing.Optional[int|float]", "dict[str, tuple[int|str]]", "Literal['a','b']", "List[Union[int,str]]")),
        *(f"parse_type_string({text!r})" for text in ("int", "List[int]", "Dict[str,Any]", "Optional[str]", "Union[int,str]", "Tuple[int,str]", "List[int,,]", "foo", "Literal[1,'a']")),
        *(f"{call}({kind})" for call in ("to_type_string", "is_type") for kind in ("int", "List[int]", "Dict[str, Any]", "Optional[str]", "Union[int, str]", "Tuple[int, str]", "Any", "5", "'x'", "Literal['a', 1]")),
        *(f"issubtype({pair})" for pair in ("int, float", "bool, int", "List[int], list", "list, List[int]", "List[bool], List[int]", "Optional[int], Union[int, str, None]", "int, Union[int, str]", "Union[int, str], int", "Dict[str, int], Dict[str, Any]", "Tuple[int, int], Tuple[int, ...]", "int, Any", "List[List], List[Sequence]", "list, Sequence", "Any, int", "Tuple[int], Tuple[int, int]")),
        *(f"{call}({values})" for call in ("optional_all", "optional_any") for values in ("[True, None]", "[False, False]", "[True, True]", "[None, False]", "[]")),
        *(f"to_float_or_default({values})" for values in ("'1.5'", "'a', None", "'a'", "None, 3")),
        "replace_class_names('a.b.C[d.<locals>.E, int]')", "to_type_dict({'a': int, 'b': {'c': List[str]}})", "parse_type_dict({'a': 'int', 'b': {'c': 'List[str]'}})", "parse_type_dict({'a': 5})",
        "is_type_dict({'a': int, 'b': {'c': 5}})", "is_type_dict(5)", "verify_required_schema({'a': int, 'b': List[str]}, {'a': 1, 'b': ['x']}, 'T')",
        "verify_required_schema({'a': int}, {'a': '1'}, 'T')", "verify_required_schema({'a': int}, {}, 'T')",
    )),
    ("from unitxt.split_utils import *", "old = {'train': list(range(40)), 'test': list(range(10, 15))}", (
        *(f"{call}({text!r})" for call in ("parse_random_mix_string", "parse_slices_string") for text in ("a[90%]+b[0.7]+c", "a", "a[", "a[5]", "a[:5]", "o[:50]+j[24:]+t+o[5:10]")),
        "{k: list(v) for k, v in slice_streams(old, {'n': {'train': [(None, 5), (7, 9)]}, 'x': {'test': [(2, None)]}}).items()}",
        "build_stream_routing({'a': {'x': .6, 'y': .2}, 'b': {'x': .4, 'y': .3}})",
        "{k: list(v) for k, v in random_mix_streams(old, {'a': {'train': .6}, 'b': {'train': .3, 'test': .5}}).items()}",
        "rename_split(dict(old), {'train': 'q'})", "rename_split(dict(old), {'no': 'q'})",
    )),
    ("from unitxt.dict_utils import *", "", tuple(
        f"{call}({text!r})" for call in ("validate_query_and_break_to_components", "is_index", "is_name", "is_wildcard") for text in ("a/b", "a//b", "/a/", "a/*/1", "a/-1", "a b.c-d", "", "a/$", "*", "12"))),
    ("from unitxt.utils import *", "class Own: pass\nown = Own()\nlists = [[1], {'a': (own,)}]", (
        "remove_numerics_and_quoted_texts('a 1 b 2.5 \"x y\" c')", "flatten_dict({'a': {'b': {'c': 1}}, 'd': 2}, sep='.')",
        "recursive_copy(lists)[1]['a'][0] is own", "recursive_deep_copy(lists)[1]['a'][0] is own", "recursive_copy(lists)[0] is lists[0]", "recursive_copy(own) is own",
        *(f"require({text})" for text in ("'numpy>=1'", "'numpy<1'", "'nopackage_x'", "['numpy', 'pandas>=1']", "\"numpy; python_version<'3'\"")),
    )),
    ("from unitxt.api import short_hex_hash, object_to_str_without_addresses\nfrom unitxt.inference import batched, get_model_and_label_id, get_text_without_images\nfrom unitxt.llm_as_judge_utils import *\nfrom unitxt.struct_data_operators import truncate_cell, extract_possible_json_str", "", (
        "short_hex_hash('abc', 10)", "object_to_str_without_addresses('<f at 0x12>')", "list(batched(range(5), 2))", "get_model_and_label_id('a/B-c.d', 'x')",
        "get_text_without_images({'source': 'a <unitxt-img src=\"x/1\"/> b'})", "get_text_without_images({'source': 5})",
        "get_text_without_images({'source': [{'role': 'user', 'content': [{'type': 'text', 'text': 'a'}, {'type': 'image_url', 'image_url': {'url': 'u'}}]}, {'role': 'a', 'content': 'z'}]}, '<I>')",
        *(f"get_parsed_context({value})" for value in ("{'context': 'x'}", "{'Context': 'x'}", "{'a': 'x', 'b': 'y'}", "{'a': 'x'}")), "rank_indexes([3, 1, 3, 2, 5])",
        *(f"truncate_cell({value}, 4)" for value in ("None", "1", "2.5", "' '", "'abc'", "'abcdef'")), *(f"extract_possible_json_str({value!r})" for value in ("x {a} y", "[1]{", "none", "}{")),
    )),
    ("from unitxt.metrics import *\nfrom unitxt.metrics import is_original_key, get_index_or_default, nan_std, validate_subgroup_types", "", (
        *(f"is_original_key({key!r})" for key in ("f1", "f1_ci_low", "score", "score_name", "num_of_instances", "x_ci_high", "score_x")), "get_index_or_default([1, 2], 3)",
        "round(nan_std([1, 2, float('nan')]), 9)", "validate_subgroup_types({'a': [1, float('nan')]}, ['a', 'a'], ['b'])", "validate_subgroup_types({'a': [1]}, 'a', ['b'])",
    )),
    ("from unitxt.metric_utils import *\nfrom unitxt.metric_utils import group_str\nfrom unitxt.stream import MultiStream", _GROUPS, (
        "group_str_to_key_value(group_str('{\"a\": \"x\"}'))", "group_str_to_key_value(group_str('{\"a\": 1, \"b\": \"y\"}'))", "stream_name_to_origin_subset_group('all_data>>a/b?k:v')",
        "stream_name_to_origin_subset_group('all_data>>')", "{name: [row['i'] for row in stream] for name, stream in split(1).items()}", "{name: [row['i'] for row in stream] for name, stream in split(None).items()}", "scored()",
    )),
    ("from unitxt.collections import *", "some, named = ListCollection([1, 2, 3]), DictCollection({'a': 1, '2': 5, 0: 7})\npicker = RandomPicker()", (
        "(some[0], len(some), some.keys(), (some + ListCollection([4])).items)", "some[9]", "(named['a'], named[0], named.keys(), len(named))", "named['q']",
        "(ItemPicker(item=1)(some), ItemPicker(item='1')(some), ItemPicker(item='a')(named))", "ItemPicker(item=9)(some)", "[RandomPicker()(some) for _ in range(3)]", "[picker(some) for _ in range(8)]", "[picker(named) for _ in range(5)]", "picker(5)",
    )),
    ("from unitxt.splitters import *\nfrom unitxt.standard import CreateDemosPool, AddDemosPool\nfrom unitxt.stream import MultiStream", _DEMOS, (
        "drawn(ConstantSizeSample, sample_size=2)", "drawn(ConstantSizeSample, removed=False, sample_size=2, sampling_seed=7)", "drawn(RandomSizeSample, sample_sizes=[0, 1, 2])",
        "drawn(ConstantSizeSample, sample_size=9)", "drawn(ConstantSizeSample, size=9223372036854775807, sample_size=2)", "drawn(ConstantSizeSample, removed=None, sample_size=1)",
        "list(AddDemosPool(demos_pool=[{'x': 1}])(MultiStream.from_iterables({'t': [{'a': 1}]}))['t'])",
    )),
    ("from unitxt.templates import *\nfrom unitxt.stream import MultiStream", _TEMPLATES, (
        "said(ApplySingleTemplate(template=one, demos_field='demos'))", "said(ApplySingleTemplate(template=one))", "said(ApplyRandomTemplate(templates=[one, two]))", "said(ApplySingleTemplate(template=one, demos_field='no'))",
    )),
    ("from unitxt.operators import ApplyMetric\nfrom unitxt.stream import MultiStream", _METRICS, ("scored(['metrics.accuracy', 'metrics.f1_micro'])", "scored('metrics.accuracy')", "scored([])")),
    ("from unitxt.dataclass import *", _CLASSES, (
        "C(b=2).to_dict()", "fields_names(C)", "C()", "C(1, 2, [3])", "C(1, 2, 3, 4)", "C(b=1, z=2)", "[each.name for each in required_fields(C)]", "asdict(C(b=P(b=3)))", "to_dict({'a': [C(b=1)], 'b': (1,)})", "asdict(5)",
        "R(1)", "R(1, 5)", "R(1, 5, 6)", "R(1, n=7)", "R(1, i=7)", "external_fields_names(R)", "R(1, a=2)", "R(1).i", "A(a=1)", "A()", "made(A, a=3)().a", "made(F, a=2)", "OptionalField()",
        "U(1, 2, c=3)._argv", "U(1, 2, c=3)._kwargs", "[each.name for each in class_fields(C(b=1))]", "[each.name for each in final_fields(F)]", "[each.name for each in abstract_fields(A)]",
        "(is_possible_field('a', 1), is_possible_field('__init__', 1), is_possible_field('f', C.to_dict))", "C(b=2).to_dict(keep_empty=False)", "is_dataclass(C), is_dataclass(5)",
    )),
    ("from unitxt.artifact import *\nfrom unitxt.artifact import dict_diff_string, verify_legal_catalog_name, get_closest_artifact_type, get_raw", "", (
        "dict_diff_string({'a': 1, 'b': 2}, {'b': 3, 'c': 4})", "dict_diff_string({'a': 'x' * 300}, {'a': 'y', 'b': 'z' * 300})", "verify_legal_catalog_name('a.b')", "verify_legal_catalog_name('a b')", "get_closest_artifact_type('renam')", "get_raw([(1, {'a': 2}), 'x'])",
    )),
    ("from unitxt.settings_utils import cast_to_type", "", tuple(f"cast_to_type({value!r}, {kind})" for value, kind in (("True", "bool"), ("x", "bool"), ("5", "int"), ("1.5", "float"), ("a", "str"), (True, "bool")))),
    ("from unitxt.text2sql_utils import *", _DATABASE, (
        *(f"shown(get_sql_execution_results({asked!r}, {right!r}, Database(), 5))" for asked, right in (("select all", "select all"), ("select one", "select all"), ("boom", "select all"), ("select all", "err"), ("", "select all"))),
        "run_query('select all', Database(), 5)[0].to_dict()", "run_query('boom', Database(), 5)[0]", "generate_cache_key('a', b=1)",
    )),
)  # fmt: skip


def cases() -> Iterator[dict[str, Any]]:
    """Yield every expression with what it needs."""
    for imports, setup, expressions in (*GROUPS, *api_cases.GROUPS):
        for expression in expressions:
            yield {"kind": "call", "setup": f"{imports}\n{setup}", "expression": expression}


def called(case: dict[str, Any]) -> Any:
    """Return the value of an expression; whoever calls has the names of Unitxt."""
    place: dict[str, Any] = {"__name__": "names"}
    exec(case["setup"], place)  # noqa: S102 - the text is of this module
    return eval(case["expression"], place)  # noqa: S307 - so is this one
