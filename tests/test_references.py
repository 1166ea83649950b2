"""References that are made from the code say all of it: environment variables, classes, pages for programs."""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
import yaml

from proctor.artifacts.registry import builtin_types
from proctor.settings import VARIABLES, settings

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "proctor"


def tool(name):
    """A program of tools/ as a module."""
    spec = spec_from_file_location(f"tools_{name}", ROOT / "tools" / f"{name}.py")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


environment, llms, artifacts = (tool(name) for name in ("environment_reference", "llms_txt", "artifact_reference"))


@pytest.mark.parametrize("made", [environment, llms], ids=["environment.md", "llms.txt"])
def test_pages_in_the_repository_are_up_to_date(made):
    assert made.TARGET.read_text(encoding="utf-8") == made.page()


# -- environment variables --------------------------------------------------------------------------------------------

VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
NOT_READ = {
    **dict.fromkeys(("FETCH_HEAD",), "a name of git's"),
    **dict.fromkeys(
        ("BATCH_SIZE_OUT_OF_RANGE", "ICLI_CODES", "INVALID_PARAM_VALUE", "MULTITRUN_MODE_OUT_OF_RANGE", "UNKNOWN_ERROR"),
        "AISBench's codes of errors",
    ),
    **dict.fromkeys(("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"), "kept out of prisons"),
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "set in prisons"),
    **{f"GIT_{name}": "set, or kept out, where git is called" for name in (
        "ALLOW_PROTOCOL", "ALTERNATE_OBJECT_DIRECTORIES", "COMMON_DIR", "DIR", "INDEX_FILE", "NAMESPACE", "NO_LAZY_FETCH",
        "OBJECT_DIRECTORY", "PREFIX", "TEMPLATE_DIR", "TERMINAL_PROMPT", "WORK_TREE",
    )},
}  # fmt: skip
"""Names that look like variables in modules that read some, and are none to be set; with the reason."""


def documented():
    text = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    return set(re.findall(r"`(_?[A-Za-z][A-Za-z0-9_]*)`", text))


def names_in_code():
    """Texts that look like variables, in modules that read the environment or name a table of variables."""
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"\benviron\b|\bvariable\(|VARIABLE|getenv|variables", text):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and VARIABLE.fullmatch(node.value):
                    yield node.value, path.relative_to(SOURCE)


def test_every_variable_that_is_read_is_in_the_table():
    known = documented() | set(NOT_READ)
    assert sorted({(name, str(path)) for name, path in names_in_code() if name not in known}) == []


def test_every_setting_and_every_provider_is_in_the_table():
    text = (SOURCE / "engines" / "http" / "providers.json").read_text(encoding="utf-8")
    wanted = {f"PROCTOR_{name.upper()}" for name in settings.describe()}
    wanted |= {name for name in re.findall(r'"([A-Z][A-Z0-9_]+)"', text) if VARIABLE.fullmatch(name)}
    assert wanted - documented() == set()


def test_the_table_has_nothing_that_is_not_read():
    everything = "\n".join(
        path.read_text(encoding="utf-8") for path in SOURCE.rglob("*") if path.suffix in {".py", ".json"}
    )
    everything += "\n".join(name for names in VARIABLES.values() for name in names)
    of_libraries = {"COLUMNS", "TERM", "NO_PROXY", "ALL_PROXY"}  # click, rich and urllib read them
    named = {name for name in documented() if VARIABLE.fullmatch(name) and not name.startswith("PROCTOR_")}
    assert [name for name in sorted(named - of_libraries) if name not in everything] == []
    settings_of_ours = {f"PROCTOR_{name.upper()}" for name in settings.describe()}
    ours = {name for name in documented() if name.startswith("PROCTOR_")}
    assert [name for name in sorted(ours - settings_of_ours) if name not in everything] == []


def test_defaults_in_the_table_are_those_of_the_code(monkeypatch):
    for name in settings.describe():
        monkeypatch.delenv(f"PROCTOR_{name.upper()}", raising=False)
        monkeypatch.delenv(f"UNITXT_{name.upper()}", raising=False)
    for name, default in settings.defaults().items():
        assert name == "cache_dir" or getattr(settings, name) == default


# -- classes ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages():
    return artifacts.pages()


def test_every_class_of_the_registry_is_on_one_page(pages):
    found = re.findall(r"^`(\w+)` in files and queries", "\n".join(pages.values()), re.MULTILINE)
    public = [name for name, place in builtin_types().items() if not place.partition(":")[2].startswith("_")]
    assert sorted(found) == sorted(public)


def test_every_path_can_be_imported(pages):
    for path in re.findall(r"queries, `([\w.]+)` in Python", "\n".join(pages.values())):
        module, _, name = path.rpartition(".")
        assert isinstance(getattr(import_module(module), name), type), path


def test_there_is_no_raw_role_and_no_markup(pages):
    for name, text in pages.items():
        assert not re.search(r":\w+:`", text), name
        assert "``" not in text, name
        assert not re.search(r"<(?!/?(?:sub|sup)>)[a-z]", re.sub(r"`[^`\n]*`", "", text)), name


def test_kinds_are_where_people_look_for_them(pages):
    for page, titles in {
        "engines": ("HFEngine", "OpenAIEngine", "ScriptedEngine"),
        "loaders": ("LoadHF", "LoadCSV"),
        "operators": ("Rename", "Set", "Shuffle"),
        "processors": ("TakeFirstNonEmptyLine", "ToString"),
        "metrics": ("Accuracy", "Bleu", "F1Macro"),
        "judges": ("LLMJudgeDirect", "CriteriaOption"),
        "samplers": ("RandomSampler", "BM25Retriever"),
    }.items():
        for title in titles:
            assert f"\n## {title}\n" in pages[f"{page}.md"], (page, title)


def test_fields_have_type_default_and_meaning(pages):
    section = pages["loaders.md"].partition("## LoadCSV\n")[2].partition("\n## ")[0]
    assert "| `files` | `dict[str, str]` | needed | A path or URL for each split. |" in section
    assert "proctor.LoadCSV" in section


def test_every_page_is_in_the_navigation(pages):
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for name in pages:
        assert f"reference/artifacts/{name}" in text
    listed = {each for each in re.findall(r": ([\w/-]+\.md)", text) if not each.startswith("reference/")}
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert {each for each in written if not each.startswith("reference/")} == listed


# -- llms.txt ---------------------------------------------------------------------------------------------------------


def test_llms_txt_has_every_page_with_what_it_is_about():
    text = llms.page()
    lines = text.splitlines()
    assert lines[0] == "# Proctor"
    assert lines[2].startswith("> Proctor evaluates language models")
    links = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): \S", text, re.MULTILINE)
    assert len(links) == len(set(links)) == sum(line.startswith("- ") for line in lines)
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    assert set(re.findall(r"[\w/-]+\.md", str(nav))) == {"index.md", *links}
    for link in links:
        assert (ROOT / "docs" / link).is_file() or link.startswith("reference/")
    assert "agents" in text


# -- the first page ---------------------------------------------------------------------------------------------------


def test_the_first_page_is_one_screen_with_two_commands_one_picture_and_four_doors():
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 50
    assert len(re.findall(r"^proctor ", page, re.MULTILINE)) == 2
    assert len(re.findall(r"^!\[", page, re.MULTILINE)) == 1
    doors = [line for line in page.splitlines() if line.startswith("| ") and "](" in line]
    assert [re.search(r"\]\(([^)]+)\)", line)[1] for line in doors] == [
        "own-data.md", "from-lm-eval.md", "from-aisbench.md", "from-unitxt.md",
    ]  # fmt: skip
    assert "agents" in page
