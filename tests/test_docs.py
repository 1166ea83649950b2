"""Every code block of the README and of docs/ runs, and every link leads somewhere.

Blocks of a page run from top to bottom in one folder; Python blocks share their names. An HTML comment right before a
block says what it needs::

    <!-- test: file=NAME -->        the block is the content of this file
    <!-- test: exit=3 -->           a shell block that ends with this exit code
    <!-- test: skip=REASON -->      not run here
    <!-- test: hub -->              needs the folder of real datasets, see ``hub_dir`` in conftest.py
    <!-- test: server -->           an OpenAI-compatible server listens on 127.0.0.1:8000 while it runs
    <!-- test: extra=PACKAGE -->    needs a package that may be missing
    <!-- test: prints -->           a text block: its lines (``…`` stands for anything) are printed by the block before
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import tests_warm
import yaml

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = {"sh", "bash", "shell"}
FENCE = re.compile(
    r"^(?:<!-- test: (?P<marks>.*?) -->\n)?(?P<indent> *)```(?P<language>\w+)[^\n]*\n(?P<code>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
SERVER = "127.0.0.1:8000"


@dataclass
class Block:
    page: Path
    line: int
    language: str
    code: str
    marks: dict[str, str]

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


@dataclass
class Page:
    """A page at work: its folder, its names, and what the last block printed."""

    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "docs"})
    printed: str = ""


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in FENCE.finditer(text):
        marks = dict(mark.partition("=")[::2] for mark in re.split(r",\s*", match["marks"] or "") if mark)
        code = match["code"]
        if match["indent"]:
            code = "\n".join(line.removeprefix(match["indent"]) for line in code.split("\n"))
        found.append(Block(page, text[: match.start()].count("\n") + 1, match["language"], code, marks))
    return found


def test_every_fence_is_seen():
    for page in PAGES:
        fences = re.findall(r"^ *```\w+", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(fences) == len(blocks_of(page)), page


def test_every_skipped_block_says_why():
    for page in PAGES:
        for block in blocks_of(page):
            assert "skip" not in block.marks or block.marks["skip"], block.place


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder with a command ``proctor`` that begins where imports have ended."""
    folder = tmp_path_factory.mktemp("warm")
    with tests_warm.started(folder):
        yield folder


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page, tmp_path, model_cache, monkeypatch, capsys, warm, request):
    monkeypatch.chdir(tmp_path)
    if "smollm2" in page.read_text(encoding="utf-8"):
        request.getfixturevalue("converted")
    share_converted_models(model_cache)
    # The README's commands are the program that was installed; those of other pages begin where imports have ended.
    first = [] if page.name == "README.md" else [str(warm)]
    monkeypatch.setenv("PATH", os.pathsep.join([*first, str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("COLUMNS", "120")
    state = Page(tmp_path)
    for block in blocks_of(page):
        if "skip" in block.marks or not available(block, monkeypatch):
            continue
        with capsys.disabled() if "debug" in block.marks else contextlib.nullcontext():
            run(block, state)


def share_converted_models(folder: Path) -> None:
    """Let all pages use one converted model; everything else in the cache is theirs alone."""
    shared, cache = folder / "models", Path(os.environ["XDG_CACHE_HOME"]) / "proctor"
    shared.mkdir(exist_ok=True)
    cache.mkdir(parents=True, exist_ok=True)
    (cache / "models").symlink_to(shared, target_is_directory=True)


def available(block: Block, monkeypatch: pytest.MonkeyPatch) -> bool:
    if "extra" in block.marks and find_spec(block.marks["extra"]) is None:
        return False
    if "hub" in block.marks:
        folder = Path(os.environ.get("PROCTOR_TEST_HUB") or ROOT.parent / "shared" / "data" / "hub")
        monkeypatch.setenv("PROCTOR_HUB_DIR", str(folder))
        return folder.is_dir()
    return True


def run(block: Block, page: Page) -> None:
    if "file" in block.marks:
        path = page.folder / block.marks["file"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.code, encoding="utf-8")
    elif "prints" in block.marks:
        assert_printed(block, page.printed)
    elif block.language in SHELL:
        with server(block) as code:
            page.printed = run_shell(block, code)
    elif block.language == "python":
        with server(block) as code:
            page.printed = run_python(block, code, page)
    elif block.language == "json":
        json.loads(block.code)
    elif block.language == "yaml":
        yaml.compose(block.code)


def run_shell(block: Block, code: str) -> str:
    done = subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", code],
        capture_output=True, text=True, timeout=300, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    expected = int(block.marks.get("exit", 0))
    assert done.returncode == expected, f"{block.place}\n{code}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def run_python(block: Block, code: str, page: Page) -> str:
    # As if it stood at its place in the page, so that tracebacks point there.
    program = compile("\n" * block.line + code, str(block.page), "exec", dont_inherit=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(program, page.names)
    return printed.getvalue()


@contextlib.contextmanager
def server(block: Block) -> Iterator[str]:
    if "server" not in block.marks:
        yield block.code
        return
    from proctor.testing.server import FaultServer

    with FaultServer() as running:
        yield block.code.replace(SERVER, f"127.0.0.1:{running.port}")


def assert_printed(block: Block, printed: str) -> None:
    squeezed = " ".join(printed.split())
    for line in filter(None, (" ".join(line.split()) for line in block.code.splitlines())):
        pattern = ".*?".join(map(re.escape, line.split("…")))
        assert re.search(pattern, squeezed), f"{block.place}: {line!r} is not in\n{printed[-3000:]}"


LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{page}: {target}"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{page}: {target}"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}
