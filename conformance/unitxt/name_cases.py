# ruff: noqa: E501 - a case a line
"""Calls of names in Unitxt's modules, as Python text: what to import, what to set up, and expressions.

Each expression is computed by Unitxt, and by Proctor under Unitxt's names; their values are compared as Python text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.unitxt import api_cases

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

GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("from unitxt.parsing_utils import *", "", (
        *(f"parse_key_equals_value_string_to_dict({text!r})" for text in ("a=1,b=x", "a=[1,2],b={c=3}", "a=x[b=1]", "a=1,,b=2", "a", "a=None,b=true,c=1e3,d='x'", "a=1 2 3, b = x y ")),
    )),
    ("from typing import *\nfrom unitxt.type_utils import *", "", (
        *(f"parse_type_string({text!r})" for text in ("int", "List[int]", "Dict[str,Any]", "Optional[str]", "Union[int,str]", "Tuple[int,str]", "List[int,,]", "foo", "Literal[1,'a']")),
        *(f"{call}({kind})" for call in ("to_type_string", "is_type") for kind in ("int", "List[int]", "Dict[str, Any]", "Optional[str]", "Union[int, str]", "Tuple[int, str]", "Any", "5", "'x'", "Literal['a', 1]")),
    )),
    ("from unitxt.split_utils import *", "old = {'train': list(range(40)), 'test': list(range(10, 15))}", (
        *(f"{call}({text!r})" for call in ("parse_random_mix_string", "parse_slices_string") for text in ("a[90%]+b[0.7]+c", "a", "a[", "a[5]", "a[:5]", "o[:50]+j[24:]+t+o[5:10]")),
    )),
    ("from unitxt.dict_utils import *", "", tuple(
        f"{call}({text!r})" for call in ("validate_query_and_break_to_components", "is_index", "is_name", "is_wildcard") for text in ("a/b", "a//b", "/a/", "a/*/1", "a/-1", "a b.c-d", "", "a/$", "*", "12"))),
    ("from unitxt.utils import *", "class Own: pass\nown = Own()\nlists = [[1], {'a': (own,)}]", (
        "flatten_dict({'a': {'b': {'c': 1}}, 'd': 2}, sep='.')",
        *(f"require({text})" for text in ("'numpy>=1'", "'numpy<1'", "'nopackage_x'", "['numpy', 'pandas>=1']", "\"numpy; python_version<'3'\"")),
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
    ("from unitxt.dataclass import *", _CLASSES, (
        "C(b=2).to_dict()", "fields_names(C)", "C()", "C(1, 2, [3])", "C(1, 2, 3, 4)", "C(b=1, z=2)", "asdict(C(b=P(b=3)))", "asdict(5)",
        "R(1)", "R(1, 5)", "R(1, 5, 6)", "R(1, n=7)", "R(1, i=7)", "R(1, a=2)", "R(1).i", "A(a=1)", "A()", "made(A, a=3)().a", "made(F, a=2)", "OptionalField()",
        "U(1, 2, c=3)._argv", "U(1, 2, c=3)._kwargs",
        "C(b=2).to_dict(keep_empty=False)", "is_dataclass(C), is_dataclass(5)",
    )),
    ("from unitxt.settings_utils import cast_to_type", "", tuple(f"cast_to_type({value!r}, {kind})" for value, kind in (("True", "bool"), ("x", "bool"), ("5", "int"), ("1.5", "float"), ("a", "str"), (True, "bool")))),
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
