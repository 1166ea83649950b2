"""Bases, references and mmengine's rules; every expected value was compared with mmengine 0.10.7 (conformance/aisbench)."""

import time
from pathlib import Path

import pytest
from tests_pace import in_time

from proctor.dialects.aisbench import reader
from proctor.dialects.aisbench.reader import datasets_of, models_of, read_config, summarizer_of
from proctor.dialects.aisbench.values import ConfigDict, ConfigFileError, Reference
from proctor.errors import TrustError
from proctor.settings import settings

BASE = """from opencompass.datasets import ARCDataset
from math import exp
import os
d = dict(type=ARCDataset, x=[1, dict(y=2)], t=(dict(z=1),))
shared = [d, d]
arc_datasets = [dict(abbr='arc', type=ARCDataset, reader_cfg=dict(cols=['a']))]
_private = 1
def helper(n): return [d] * n
big_datasets = helper(2)
"""
READ_BASE = "from mmengine.config import read_base\nwith read_base():\n    from .base import "
ARC = Reference("opencompass.datasets.ARCDataset")
D = {"type": ARC, "x": [1, {"y": 2}], "t": ({"z": 1},)}


@pytest.fixture
def config(tmp_path):
    (tmp_path / "base.py").write_text(BASE)

    def read(source, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        path = tmp_path / "config.py"
        path.write_text(source)
        return read_config(path, trust_code=False)

    return read


def test_imports_functions_and_modules_are_left_out(config):
    assert list(config(BASE)) == ["d", "shared", "arc_datasets", "_private", "big_datasets"]


def test_all_names_of_a_base_come_in_its_order(config):
    values = config(READ_BASE + "*\ny = 1")
    assert list(values) == ["d", "shared", "arc_datasets", "_private", "big_datasets", "y"]
    assert values["d"] == D


def test_an_assignment_wins_over_a_base_wherever_it_stands(config):
    assert config("arc_datasets = []\n" + READ_BASE + "arc_datasets")["arc_datasets"] == []


def test_names_of_bases_come_first(config):
    source = "a_datasets = [0]\n" + READ_BASE + "arc_datasets, big_datasets as renamed_datasets\nb_datasets = [5]\n"
    values = config(source + "datasets = sum((v for k, v in locals().items() if k.endswith('_datasets')), [])")
    assert list(values) == ["arc_datasets", "renamed_datasets", "a_datasets", "b_datasets", "datasets"]
    assert [each if isinstance(each, int) else each.get("abbr", "d") for each in values["datasets"]] == [
        "arc",
        "d",
        "d",
        0,
        5,
    ]


def test_what_a_base_shares_is_shared_no_more(config):
    values = config(READ_BASE + "shared, d\nshared[0]['new'] = 1")
    assert values["shared"] == [D | {"new": 1}, D]
    assert values["d"] == D


def test_one_base_imported_under_two_names_is_one_value(config):
    values = config(READ_BASE + "d as d1\nwith read_base():\n    from .base import d as d2\nd1['q'] = 1")
    assert values["d2"] == D | {"q": 1}


def test_dictionaries_of_bases_merge_when_updated(config):
    values = config(
        READ_BASE
        + "d\nd.update(dict(x=5, n=dict(a=1)))\nd.update(n=dict(b=2))\nplain = dict(n=dict(a=1))\nplain.update(n=dict(b=2))"
    )
    assert values["d"] == D | {"x": 5, "n": {"a": 1, "b": 2}}
    assert values["plain"] == {"n": {"b": 2}}


def test_dictionaries_of_bases_have_attributes(config):
    values = config(
        READ_BASE
        + "arc_datasets\narc_datasets[0].abbr = 'new'\narc_datasets[0].reader_cfg.cols = ['b']\nq = arc_datasets[0].type"
    )
    assert values["arc_datasets"] == [{"abbr": "new", "type": ARC, "reader_cfg": {"cols": ["b"]}}]
    assert values["q"] == ARC


def test_dictionaries_of_bases_copy_deeply(config):
    values = config(
        READ_BASE
        + "arc_datasets\nout = []\nfor one in arc_datasets:\n    t = one.deepcopy()\n    t['reader_cfg']['cols'].append('z')\n    out.append(t)"
    )
    assert values["arc_datasets"][0]["reader_cfg"]["cols"] == ["a"]
    assert values["out"][0]["reader_cfg"]["cols"] == ["a", "z"]


def test_dictionaries_of_bases_copy_lists_that_are_put_in(config):
    values = config(
        READ_BASE
        + "d\nx = [1]\nd['k'] = x\nx.append(2)\nn = {'m': [1]}\nd['n'] = n\nn['m'].append(5)\nd.setdefault('sd', []).append(1)"
    )
    assert (values["d"]["k"], values["d"]["n"], values["d"]["sd"]) == ([1], {"m": [1]}, [])


def test_dictionaries_of_bases_pop_what_is_not_there(config):
    values = config(READ_BASE + "d\na = d.pop('nope')\nb = d.get('nope', 3)\nfor k, v in d.items(): d[k + '_'] = 1")
    assert (values["a"], values["b"]) == (None, 3)
    assert list(values["d"]) == ["type", "x", "t", "type_", "x_", "t_"]


def test_functions_of_bases_work_on_the_values_of_the_base(config):
    values = config(READ_BASE + "helper, d\na = helper(1)\nd['own'] = 1\nb = helper(1)")
    assert values["a"] == values["b"] == [D]


def test_functions_of_bases_leave_nothing_behind_for_the_next_read(config):
    counter = "seen = []\ndef f():\n    seen.append(1)\n    return len(seen)"
    source = "from mmengine.config import read_base\nwith read_base():\n    from .counter import f\nx = f()"
    assert [config(source, counter=counter)["x"] for _ in range(3)] == [1, 1, 1]


def test_a_base_is_read_once_and_again_when_it_changes(config, tmp_path, monkeypatch):
    texts = []
    monkeypatch.setattr(
        reader,
        "parsed",
        lambda module, text=None, original=reader.parsed: (texts.append(module.path.name), original(module, text))[1],
    )
    source = "from mmengine.config import read_base\nwith read_base():\n    from .other import x"
    assert config(source, other="x = 1")["x"] == 1
    (tmp_path / "config.py").write_text(source + "\ny = 22")
    assert read_config(tmp_path / "config.py")["y"] == 22
    assert texts.count("other.py") == 1
    (tmp_path / "other.py").write_text("x = 100")
    assert read_config(tmp_path / "config.py")["x"] == 100
    assert texts.count("other.py") == 2


def test_what_a_caller_changes_does_not_reach_the_next_read(config, tmp_path):
    first = config(READ_BASE + "arc_datasets")
    first["arc_datasets"][0]["reader_cfg"]["cols"].append("changed")
    assert read_config(tmp_path / "config.py")["arc_datasets"][0]["reader_cfg"]["cols"] == ["a"]


def test_absolute_bases_lie_in_the_tree_of_the_file(tmp_path):
    folder = tmp_path / "opencompass" / "configs" / "datasets"
    (folder / "arc").mkdir(parents=True)
    (folder / "arc" / "arc_gen.py").write_text("arc_datasets = [dict(abbr='arc')]")
    (folder / "all.py").write_text(
        "from mmengine.config import read_base\nwith read_base():\n    from opencompass.configs.datasets.arc.arc_gen import arc_datasets"
    )
    assert read_config(folder / "all.py")["arc_datasets"] == [{"abbr": "arc"}]


def test_absolute_bases_lie_in_named_folders(tmp_path):
    folder = tmp_path / "checkout" / "ais_bench" / "benchmark" / "configs" / "datasets"
    folder.mkdir(parents=True)
    (folder / "arc_gen.py").write_text("arc_datasets = [dict(abbr='arc')]")
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from mmengine.config import read_base\nwith read_base():\n    from ais_bench.benchmark.configs.datasets.arc_gen import arc_datasets"
    )
    with settings.context(config_dirs=str(folder.parent)):
        assert read_config(mine)["arc_datasets"] == [{"abbr": "arc"}]


def test_bases_that_are_missing_are_all_named(config):
    with pytest.raises(ConfigFileError) as caught:
        config(
            "from mmengine.config import read_base\nwith read_base():\n    from .a import x\n    from .base import arc_dataset\n    from nowhere.b import y"
        )
    messages = [(each.what, each.location.line) for each in caught.value.diagnostics]
    assert [line for _, line in messages] == [3, 4, 5]
    assert messages[0][0].endswith("a.py' does not exist")
    assert messages[1][0] == "'base.py' has no name 'arc_dataset'"
    assert "did you mean 'arc_datasets'" in caught.value.diagnostics[1].hint
    assert messages[2][0] == "the base file 'nowhere.b' does not exist"


def test_references_have_whole_names_and_places(config):
    values = config(
        "import torch\nimport a.b.c\nimport x.y as z\nfrom m.n import K as L\nv = [torch.float16, a.b.c.D, z.q, L, L.sub]\nt = f'{L}'"
    )
    assert [each.name for each in values["v"]] == ["torch.float16", "a.b.c.D", "x.y.q", "m.n.K", "m.n.K.sub"]
    assert values["t"] == "K"
    assert values["v"][3].short == "K"
    assert (values["v"][3].location.line, values["v"][3].location.column) == (4, 17)


def test_dictionaries_know_where_they_were_written(config):
    values = config("a = [\n    dict(x={'y': 1}),\n]\nb = {k: 1 for k in 'a'}")
    assert isinstance(values["a"][0], ConfigDict)
    assert (values["a"][0].location.line, values["a"][0].location.column) == (2, 5)
    assert values["a"][0]["x"].location.column == 12
    assert values["b"].location.line == 4


def test_types_that_a_config_names_become_references(config):
    values = config("from a import B\nx = dict(type=dict, k=len)")
    assert values["x"] == {"type": Reference("builtins.dict"), "k": Reference("builtins.len")}


def test_texts_beside_a_config_are_read(config, tmp_path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "one.txt").write_text("Frage: ä\n{question}", encoding="utf-8")
    source = """import os
from a import B
with open(os.path.join(os.path.dirname(__file__), 'prompts', 'one.txt'), 'r') as f: hint = f.read()
lines = [line for line in open(__file__.replace('config.py', 'prompts/one.txt'), encoding='utf-8')]
there = os.path.exists(os.path.join(os.path.dirname(__file__), 'prompts'))
"""
    values = config(source)
    assert values["hint"] == "Frage: ä\n{question}"
    assert values["lines"] == ["Frage: ä\n", "{question}"]
    assert values["there"] is True
    (tmp_path / "prompts" / "one.txt").write_text("changed")
    assert config(source)["hint"] == "changed"


def test_the_environment_gives_defaults_and_what_is_allowed(config, monkeypatch):
    source = "import os\nt = os.environ.get('TOKENIZER_MODEL', 'gpt-4')\nm = os.getenv('MINE', 'default')"
    monkeypatch.delenv("TOKENIZER_MODEL", raising=False)
    assert config(source) == {"t": "gpt-4", "m": "default"}
    monkeypatch.setenv("TOKENIZER_MODEL", "other")
    assert config(source)["t"] == "other"
    monkeypatch.setenv("MINE", "x")
    with pytest.raises(TrustError, match="'MINE'"):
        config(source)
    monkeypatch.setenv("PROCTOR_CONFIG_ENV", "OTHER, MINE")
    assert config(source)["m"] == "x"


def test_files_without_imports_have_their_variables_filled_in(config):
    values = config(
        "a = '{{ fileBasenameNoExtension }} {{fileExtname}} {{ fileBasename }}'\ne = '{{$PROCTOR_NOT_SET:default}}/x'\n"
        "k = {{'$PROCTOR_NUM:80'}}\nj = '{{not_a_variable}} {question}'\n__hidden = 3\n_under = 4"
    )
    assert values == {
        "a": "config .py config.py",
        "e": "default/x",
        "k": 80,
        "j": "{{not_a_variable}} {question}",
        "_under": 4,
    }


def test_files_with_imports_keep_them_as_they_are(config):
    assert config("from a import B\nx = '{{ fileBasename }}'")["x"] == "{{ fileBasename }}"


OLD = {"old": "m = dict(a=1, b=dict(c=2, d=3), l=[1])\nk = 1\nn = dict(z=1)", "other": "o = dict(q=1)"}


def test_old_bases_are_merged(config):
    values = config(
        "_base_ = ['./old.py', 'other.py']\nm = dict(b=dict(c=9), e=5, l=[2])\nk = 2\nn = dict(_delete_=True, y=3)\nnew = {{_base_.m.b.d}}\ncopy = _base_.o",
        **OLD,
    )
    assert values == {
        "m": {"a": 1, "b": {"c": 9, "d": 3}, "l": [2], "e": 5},
        "k": 2,
        "n": {"y": 3},
        "o": {"q": 1},
        "new": 3,
        "copy": {"q": 1},
    }
    assert config("_base_ = 'old.py'\nm = dict(b=dict(_delete_=True, x=1))", **OLD)["m"]["b"] == {"x": 1}


def test_old_bases_that_do_not_fit_are_named(config):
    with pytest.raises(ConfigFileError, match="'k' is a dictionary here and none in the base"):
        config("_base_ = 'old.py'\nk = dict(x=1)", **OLD)
    with pytest.raises(ConfigFileError, match="two bases have the name"):
        config("_base_ = ['old.py', './old.py']", **OLD)
    with pytest.raises(ConfigFileError, match="not a list of file names"):
        config("_base_ = [1]")


@pytest.mark.parametrize(
    "source, message",
    [
        ("x = (", "not valid Python"),
        ("return 1", "not valid Python"),
        ("break", "not valid Python"),
        ("def f(a, a): pass", "not valid Python"),
        ("x = 1\n  y = 2", "not valid Python"),
        ("x = '\\ud800'\ny = x.upper()", None),
        ("x = iter([1])\ny = [x]", "a value of the config is an iterator"),
    ],
)
def test_files_that_are_no_configs(config, source, message):
    if message is None:
        assert config(source)
        return
    with pytest.raises(ConfigFileError, match=message):
        config(source)


def test_a_config_that_is_missing_or_no_text(tmp_path):
    with pytest.raises(ConfigFileError, match="cannot be read"):
        read_config(tmp_path / "nothing.py")
    (tmp_path / "binary.py").write_bytes(b"x = '\xff'")
    with pytest.raises(ConfigFileError, match="not UTF-8 text"):
        read_config(tmp_path / "binary.py")
    (tmp_path / "bom.py").write_bytes(b"\xef\xbb\xbfx = 1")
    assert read_config(tmp_path / "bom.py") == {"x": 1}


def test_datasets_of_a_run_are_its_list(config):
    values = config(
        "a_datasets = [dict(abbr='a')]\ndatasets = [*a_datasets, dict(abbr='b')]\nmodels = [dict(abbr='m')]\nsummarizer = dict(t=1)"
    )
    assert [each["abbr"] for each in datasets_of(values)] == ["a", "b"]
    assert [each["abbr"] for each in models_of(values)] == ["m"]
    assert summarizer_of(values) == {"t": 1}


def test_datasets_of_a_dataset_config_are_all_its_lists_each_once(config):
    values = config(
        "a_datasets = [dict(abbr='a'), dict(abbr='a', n=2)]\nb_datasets = [dict(abbr='b')]\nall_datasets = a_datasets + b_datasets\nx_mini = [dict(abbr='m')]"
    )
    assert [(each["abbr"], each.get("n")) for each in datasets_of(values)] == [("a", None), ("a", 2), ("b", None)]
    assert datasets_of({}) == models_of({}) == []
    assert summarizer_of({}) is None


def test_reading_is_fast(tmp_path):
    subjects = [f"subject_{number}" for number in range(60)]
    (tmp_path / "config.py").write_text(
        f'from opencompass.datasets import D\nmmlu_datasets = []\nfor _name in {subjects!r}:\n    _hint = f\'about {{_name.replace("_", " ")}}.\'\n'
        "    infer_cfg = dict(template=dict(round=[dict(role='HUMAN', prompt=_hint), dict(role='BOT', prompt='A')]))\n"
        "    mmlu_datasets.append(dict(abbr=f'lukaemon_{_name}', type=D, infer_cfg=infer_cfg))\n"
    )
    read_config(tmp_path / "config.py")
    reader._known.clear()
    start = time.thread_time()
    assert len(read_config(tmp_path / "config.py")["mmlu_datasets"]) == 60
    assert in_time(time.thread_time() - start, 0.25)


# -- running what cannot be read --------------------------------------------------------------------------------------


def test_trusted_code_runs(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(
        "from not_installed.datasets import ThingDataset\nimport not_installed.models as m\nfrom collections import Counter\n"
        "class Local:\n    kind = 'local'\n"
        "things_datasets = [dict(abbr=eval(\"'a' + 'b'\"), type=ThingDataset, model=m.Chat, n=Counter('aa')['a'], k=Local.kind)]\n"
    )
    with pytest.raises(TrustError, match="defines a class"):
        read_config(path)
    values = read_config(path, trust_code=True)
    assert values["things_datasets"] == [
        {
            "abbr": "ab",
            "type": Reference("not_installed.datasets.ThingDataset"),
            "model": Reference("not_installed.models.Chat"),
            "n": 2,
            "k": "local",
        }
    ]
    assert isinstance(values["things_datasets"][0], ConfigDict)
    with settings.context(trust_code=True):
        assert list(read_config(path)) == list(values)


def test_trusted_code_sees_its_bases(tmp_path):
    (tmp_path / "base.py").write_text(BASE)
    (tmp_path / "config.py").write_text(
        READ_BASE
        + "arc_datasets, helper, d\nclass X: pass\narc_datasets[0].abbr = 'new'\nt = arc_datasets[0].deepcopy()\nt['reader_cfg'].update(n=1)\n"
        "d.update(x=5)\nlist_datasets = helper(1)\n"
    )
    values = read_config(tmp_path / "config.py", trust_code=True)
    assert values["arc_datasets"] == [{"abbr": "new", "type": ARC, "reader_cfg": {"cols": ["a"]}}]
    assert values["t"]["reader_cfg"] == {"cols": ["a"], "n": 1}
    assert values["d"] == D | {"x": 5}
    assert values["list_datasets"] == [D]


def test_trusted_code_that_calls_what_is_missing_says_so(tmp_path):
    path = tmp_path / "config.py"
    path.write_text("from not_installed import make\nx = make(1)")
    with pytest.raises(TrustError, match="calls 'not_installed.make'"):
        read_config(path)
    with pytest.raises(TrustError, match="'not_installed.make', which cannot be imported") as caught:
        read_config(path, trust_code=True)
    assert "install the package 'not_installed'" in str(caught.value)
    assert caught.value.diagnostics[0].location.line == 1


def test_trusted_code_calls_what_is_installed(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(
        "from numpy import arange\nfrom numpy import float32 as t\nx = [int(i) for i in arange(3)]\ny = dict(type=t)"
    )
    assert read_config(path, trust_code=True) == {"x": [0, 1, 2], "y": {"type": Reference("numpy.float32")}}


def test_trusted_code_that_fails_names_its_line(tmp_path):
    path = tmp_path / "config.py"
    path.write_text("class X: pass\ndef f():\n    return 1 / 0\nx = f()\n")
    with pytest.raises(ConfigFileError, match="ZeroDivisionError") as caught:
        read_config(path, trust_code=True)
    assert caught.value.diagnostics[0].location.line == 3


def test_configs_that_can_be_read_are_not_run_even_when_trusted(tmp_path):
    path = tmp_path / "config.py"
    path.write_text(f"x = [print(1), 2]\ny = {str(tmp_path)!r}")
    assert read_config(path, trust_code=True)["x"] == [None, 2]
    assert Path(tmp_path, "config.py").exists()
