"""One guest room: names are ours whatever is installed, nobody else sees them, what is not here is refused or said."""

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

import pytest
import tests_warm

from proctor.errors import NotAllowedError
from proctor.guests import installed as reading
from proctor.guests.code import module_named, object_named
from proctor.guests.rooms import GuestRoom
from proctor.guests.table import TABLES, Table, at, table_of
from proctor.recipes.fingerprint import digest_of_bytes
from proctor.settings import settings

NEVER = "raise RuntimeError('an installed package was imported')\n"
FORK = {
    "lm_eval/__init__.py": NEVER,
    "lm_eval/utils.py": "from lm_eval.api.model import LM\ndef of_the_fork(): return LM\n",
    "lm_eval/more.py": "from lm_eval.mine import LM\n",
    "lm_eval/mine.py": (
        "from lm_eval.api.model import LM\nfrom lm_eval import more\nfrom dataclasses import dataclass\nfrom typing import ClassVar\n"
        "@dataclass\nclass Kept:\n    size: 'ClassVar[int]' = 3\nclass Mine(LM): pass\n"
    ),
}


@pytest.fixture(autouse=True)
def _fresh(monkeypatch):
    monkeypatch.setattr(reading, "_read", {})


def code(room, text):
    """Run code whose imports a room answers; return its names."""
    module = ModuleType("guest")
    vars(module)["__builtins__"] = room.builtins()
    exec(text, vars(module))
    return vars(module)


def test_ours_is_what_code_gets_whatever_is_installed(package):
    package({f"{name}/__init__.py": NEVER for name in TABLES})
    names = code(
        GuestRoom(),
        "from lm_eval.api.model import LM\nimport evaluate\nfrom unitxt.operators import Copy\n"
        "from opencompass.registry import MODELS\nfrom ais_bench.benchmark.datasets.base import BaseDataset\n"
        "from mmengine.config import ConfigDict\nload = evaluate.load\n",
    )
    homes = {name: names[name].__module__ for name in ("LM", "Copy", "BaseDataset", "ConfigDict", "load")}
    assert all(home.startswith("proctor.") for home in homes.values()), homes
    assert not {*TABLES} & {*sys.modules}
    assert reading.read_modules() == ()


@pytest.mark.parametrize(
    "text",
    [
        "import importlib\nLM = importlib.import_module('lm_eval.api.model').LM\n",
        "import importlib.util\nLM = importlib.import_module('lm_eval.api.model').LM\n",
        "from importlib import import_module\nLM = import_module('.model', 'lm_eval.api').LM\n",
        "def late():\n    import importlib as i\n    return i.import_module('lm_eval').api.model.LM\nLM = late()\n",
    ],
)
def test_modules_that_code_imports_by_a_text_are_ours_too(package, text):
    package({f"{name}/__init__.py": NEVER for name in TABLES})
    assert code(GuestRoom(), text)["LM"].__module__.startswith("proctor.")
    assert "lm_eval" not in sys.modules


def test_what_python_s_importlib_has_beside_it_stays():
    names = code(GuestRoom(), "import importlib.util, importlib\njson = importlib.import_module('json')\n")
    assert names["json"] is sys.modules["json"]
    assert names["importlib"].util.find_spec("json") is not None


@pytest.mark.parametrize("text", ["from importlib import {0} as found", "import importlib.{0} as found"])
def test_what_lies_below_python_s_importlib_is_imported(text, monkeypatch):
    import importlib

    monkeypatch.delitem(sys.modules, "importlib.simple", raising=False)
    monkeypatch.delattr(importlib, "simple", raising=False)
    assert code(GuestRoom(), text.format("simple"))["found"].__name__ == "importlib.simple"


def test_a_program_is_the_same_whatever_is_installed(package, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import lm_eval, evaluate, unitxt, opencompass.registry\nfrom lm_eval.api.registry import register_metric\n"
        "print(lm_eval.simple_evaluate.__module__, evaluate.load('unitxt/metric'))\n"
    )
    said = []
    for there in (False, True):
        if there:
            package({f"{name}/__init__.py": NEVER for name in TABLES})
        done = tests_warm.python("-m", "proctor.compat", program)
        said.append((done.returncode, done.stdout.split(" at ")[0], done.stderr))
    assert said[0] == said[1]
    assert said[0][0] == 0, said


def test_imports_of_a_room_leak_into_nobody_else_s():
    before = dict(sys.modules)
    later = code(
        GuestRoom(),
        "import lm_eval.utils as one\nfrom lm_eval import utils as two\nimport lm_eval\n"
        "def later():\n    from lm_eval.utils import hash_string\n    return hash_string\n",
    )
    assert (
        later["later"]() is later["one"].hash_string is later["two"].hash_string is later["lm_eval"].utils.hash_string
    )
    assert not {name for name in set(sys.modules) - set(before) if name.partition(".")[0] in TABLES}
    with pytest.raises(ModuleNotFoundError):
        import_module("lm_eval")


def test_a_name_that_is_not_here_is_refused_with_the_nearest_one(package):
    package(FORK)
    room = GuestRoom()
    with pytest.raises(ImportError, match="did you mean 'hash_string'"):
        code(room, "from lm_eval.utils import hash_strings")
    with pytest.raises(ModuleNotFoundError, match=r"no module 'lm_eval\.mine'.*--trust-code"):
        code(room, "import lm_eval.mine")
    with pytest.raises(ImportError, match="of_the_fork"):
        code(room, "from lm_eval.utils import of_the_fork")


def test_trusted_code_gets_it_from_the_installed_package_with_ours_beneath(package, heard):
    folder = package(FORK)
    room = GuestRoom()
    with settings.context(trust_code=True):
        names = code(
            room,
            "from lm_eval.mine import Mine, Kept\nfrom lm_eval.utils import of_the_fork, hash_string\n"
            "from lm_eval.api.model import LM\nagain = __import__('lm_eval.mine').mine",
        )
    assert issubclass(names["Mine"], names["LM"])
    assert names["of_the_fork"]() is names["LM"]
    assert names["hash_string"].__module__.startswith("proctor.")
    assert names["again"].Mine is names["Mine"]
    assert not {*TABLES} & {*sys.modules}
    (mine, _, utils) = reading.read_modules()
    assert (mine.name, mine.version, utils.name) == ("lm_eval.mine", "", "lm_eval.utils")
    assert mine.digest == digest_of_bytes((folder / "lm_eval" / "mine.py").read_bytes())
    assert set(room.read) == {"lm_eval.mine", "lm_eval.more", "lm_eval.utils"}
    said = [each for each in heard.records if each.getMessage().startswith("lm_eval.mine is read from the installed")]
    assert len({id(each) for each in said}) == 1


def test_programs_get_it_without_a_flag(package, tmp_path):
    package(FORK)
    program = tmp_path / "program.py"
    program.write_text(
        "from lm_eval.mine import Mine\nfrom lm_eval.api.model import LM\nfrom lm_eval.utils import of_the_fork\n"
        "import sys\nprint(issubclass(Mine, LM), of_the_fork() is LM, sys.modules['lm_eval.mine'].Mine is Mine)\n"
    )
    done = tests_warm.python("-m", "proctor.compat", program)
    assert done.stdout == "True True True\n", done.stderr
    assert "lm_eval.mine is read from the installed lm_eval" in done.stderr


def test_a_metric_that_is_not_computed_here_comes_from_the_installed_package(package):
    package(
        {
            "evaluate/__init__.py": "from .loading import load\n",
            "evaluate/loading.py": "def load(name, *_): return name\n",
        }
    )
    names = code(GuestRoom(), "import evaluate\ndef get(name): return evaluate.load(name)")
    try:
        with settings.context(trust_code=True):
            assert names["get"]("no_such_metric") == "no_such_metric"
            assert names["get"]("exact_match").name == "exact_match"
        assert [each.name for each in reading.read_modules()] == ["evaluate"]
    finally:
        for name in [each for each in sys.modules if each.partition(".")[0] == "evaluate"]:
            del sys.modules[name]


def test_classes_beside_configs_get_our_names(package):
    package(
        {
            "mine_of_ours/__init__.py": "from .deep.sets import Rows\n",
            "mine_of_ours/deep/sets.py": (
                "from opencompass.datasets.base import BaseDataset\nfrom ..words import WORD\n"
                "class Rows(BaseDataset):\n"
                "    def load(self):\n        from opencompass.registry import MODELS\n        return MODELS, WORD\n"
            ),
            "mine_of_ours/words.py": "WORD = 'w'\n",
        }
    )
    try:
        kind = object_named("mine_of_ours.deep.sets.Rows")
        assert object_named("mine_of_ours.Rows") is kind
        assert kind.__mro__[1].__module__ == "proctor.dialects.aisbench.classes.base_datasets"
        assert kind.load(None)[1] == "w"
        assert module_named("json") is sys.modules["json"]
        with pytest.raises(ImportError, match="has no 'Nothing'"):
            object_named("mine_of_ours.Nothing")
        with pytest.raises(ModuleNotFoundError):
            object_named("mine_of_ours.nowhere.Nothing")
        with pytest.raises(ImportError, match="names no module"):
            object_named("Nothing")
        assert find_spec("opencompass") is None
    finally:
        for name in [each for each in sys.modules if each.startswith("mine_of_ours")]:
            del sys.modules[name]


def test_a_config_names_classes_of_a_fork_that_is_installed(package, tmp_path):
    from proctor.dialects.aisbench.definition import _code_of
    from proctor.dialects.aisbench.values import Reference

    package(
        {
            "opencompass/__init__.py": NEVER,
            "opencompass/datasets/__init__.py": "from .own import OwnDataset, OwnEvaluator\n",
            "opencompass/datasets/own.py": (
                "from opencompass.openicl.icl_evaluator import BaseEvaluator\nfrom .base import BaseDataset\n"
                "class OwnDataset(BaseDataset):\n"
                "    @staticmethod\n    def load(path): return [{'q': path, 'a': '1'}]\n"
                "class OwnEvaluator(BaseEvaluator):\n"
                "    def score(self, predictions, references): return {'share': 50.0}\n"
            ),
        }
    )
    own = Reference("opencompass.datasets.OwnDataset", None)
    with settings.context(trust_code=True):
        kind = object_named(own.name)
        assert kind.load("x") == [{"q": "x", "a": "1"}]
        assert object_named("opencompass.datasets.GSM8KDataset").__module__.startswith("proctor.")
        assert set(dict(_code_of({"type": own}))) == {"opencompass.datasets"}
    with pytest.raises(ImportError, match="OtherDataset"):
        object_named("opencompass.datasets.OtherDataset")


def test_what_does_the_work_of_a_name_is_said_when_it_is_used():
    names = code(
        GuestRoom(), "from lm_eval.decontamination.janitor import Janitor\nfrom unitxt.validate import anything"
    )
    for name, reason in (("Janitor", "training data"), ("anything", "fields of their task")):
        with pytest.raises(NotAllowedError, match=reason):
            names[name]()


def test_private_names_that_are_looked_for_are_just_not_there():
    names = code(GuestRoom(), "import lm_eval.utils as utils")
    assert not hasattr(names["utils"], "_nothing")
    assert not hasattr(names["utils"], "__wrapped__")
    assert "hash_string" in dir(names["utils"])


def test_an_empty_program_starts_without_the_packages_it_does_not_import(tmp_path):
    (tmp_path / "program.py").write_text("import sys\nprint(*sys.modules)")
    done = subprocess.run(
        [sys.executable, "-m", "proctor.compat", str(tmp_path / "program.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.split())
    assert not loaded & {"datasets", "evaluate", "pydantic", "numpy", "torch", "transformers", "proctor.artifacts"}
    assert sum(each.startswith("proctor.") for each in loaded) < 30


def lines():
    """Yield every line of the tables."""
    for package in TABLES:
        table = table_of(package)
        for module, homes in table.names.items():
            for home, text in homes.items():
                yield pytest.param(table, module, home, text, id=f"{module}: {home.removeprefix('proctor.')}")


@pytest.mark.parametrize("table, module, home, text", list(lines()))
def test_every_line_of_the_tables_leads_somewhere(table: Table, module, home, text):
    if text == "*":
        assert table.listed(module)
        return
    for name in text.split():
        theirs, _, ours = name.partition("=")
        assert type(at(f"{home}:{ours or theirs}")) is type(table.find(module, theirs))


@pytest.mark.parametrize("whole", [each for each in table_of("lm_eval").older if "(" not in each])
def test_names_of_earlier_releases_are_not_here_and_say_what_is_written_today(whole):
    table, module, name = table_of("lm_eval"), *whole.replace("*.", "lm_eval.tasks.").rsplit(".", 1)
    with pytest.raises(ImportError, match="is a name of an earlier lm_eval. Today: "):
        GuestRoom().look_up(module, name)
    assert not table.has(whole)
