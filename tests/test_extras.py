"""What errors say to install is in the extra that they name; `all` holds every extra but those with a reason."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
NOT_IN_ALL = {
    "all": "itself",
    "vllm": "needs a GPU",
    "openvino": "holds transformers back",
    "mlflow": "whoever uses a tracker has it",
    "wandb": "whoever uses a tracker has it",
    "trackio": "whoever uses a tracker has it",
    "docs": "for those who write Proctor",
    "browser": "for those who write Proctor",
    "dev": "for those who write Proctor",
}
THROUGH = {"transformers": {"huggingface-hub"}, "datasets": {"huggingface-hub"}, "conllu": {"conllu"}}
"""What packages bring with them and never will do without."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(extra: str) -> set[str]:
    """Return the packages of an extra, those of the extras that it names included."""
    found: set[str] = set()
    for each in EXTRAS[extra]:
        name = normal(re.match(r"[\w.-]+", each)[0])
        if name == "proctor":
            listed = re.search(r"\[(.+?)\]", each)[1].split(",")
            found |= set().union(*(packages(part.strip()) for part in listed))
        else:
            found |= {name, *THROUGH.get(name, ())}
    return found


def said() -> list[tuple[str, str, str]]:
    """Return file and line, package and extra of every error that says what to install."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text()
        if not any(each in text for each in ("MissingExtraError", "needed(", "_required(", "_requirements_list")):
            continue
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call):
                continue
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            words = [each.value if isinstance(each, ast.Constant) else None for each in node.args]
            called = ast.unparse(node.func)
            if called in ("MissingExtraError.of", "needed") and isinstance(words[0], str) and isinstance(words[1], str):
                found.append((place, words[0], words[1]))
            elif called == "_required" and path.name == "remote.py":
                found.append((place, words[1], words[3] if len(words) > 3 else "loaders"))
        found += [(str(path.relative_to(ROOT)), name, extra) for name, extra in re.findall(
            r"""["'](\w+)["']: ["']pip install \\?'proctor\[([\w-]+)\]""", text)]  # fmt: skip
    return found


def test_there_is_something_to_read():
    assert len(said()) > 40


@pytest.mark.parametrize("place, package, extra", said())
def test_what_an_error_says_to_install_is_in_its_extra(place, package, extra):
    assert extra in EXTRAS, place
    assert normal(package) in packages(extra), place


def test_every_extra_that_is_named_anywhere_exists():
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "README.md"]:
        for listed in re.findall(r"proctor\[([a-z0-9,-]+)\]", path.read_text()):
            assert set(listed.split(",")) <= set(EXTRAS), f"{path}: {listed}"


def test_all_means_all():
    wanted = set().union(*(packages(name) for name in EXTRAS if name not in NOT_IN_ALL))
    assert packages("all") == wanted
    assert set(NOT_IN_ALL) <= {*EXTRAS, "mlflow", "wandb", "trackio"}


def test_no_error_says_to_install_a_package_by_itself():
    for path in (ROOT / "src").rglob("*.py"):
        for line in path.read_text().splitlines():
            if "MissingExtraError" in line or "hint=" in line:
                found = re.search(r"pip install (?!['{\"-]|proctor)([\w-]+)", line)
                assert found is None, f"{path}: {line.strip()}"
