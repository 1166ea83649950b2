"""The repository as a stranger finds it: metadata, commands, sample exams."""

from __future__ import annotations

import ast
import json
import operator
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT / "src" / "proctor" / "catalog" / "samples" / "data"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def rows(exam: str, split: str) -> list[dict[str, Any]]:
    text = (SAMPLES / f"{exam}.{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def extra_of(node: ast.AST) -> str | None:
    """The extra that ``MissingExtraError.of(package, extra, purpose)`` names, or ``needed`` of the same."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id="MissingExtraError"), attr="of") | ast.Name(id="needed"),
            args=[_, ast.Constant(value=str(name)), _],
        ):
            return name
    return None


class TestBenchmarks:
    def test_each_can_be_measured_by_make_bench(self) -> None:
        for path in sorted({*(ROOT / "benchmarks").glob("*.py")} - {ROOT / "benchmarks" / "run.py"}):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef) and node.name == "measure":
                    needed = len(node.args.args) - len(node.args.defaults)
                    assert needed == 0, f"{path.name}: make bench calls measure() with nothing"


class TestMetadata:
    def test_the_core_stays_small(self):
        assert len(PROJECT["project"]["dependencies"]) <= 10

    def test_torch_is_pinned(self):
        assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()

    def test_everything_without_a_gpu_leaves_out_what_needs_one(self):
        everything = " ".join(PROJECT["project"]["optional-dependencies"]["all"])
        assert "vllm" not in everything
        assert "hf" in everything

    def test_every_extra_that_an_error_names_exists(self):
        named = set()
        for path in (ROOT / "src").rglob("*.py"):
            named.update(re.findall(r"proctor\[([a-z0-9_,-]+)\]", path.read_text(encoding="utf-8")))
            tree = ast.parse(path.read_text(encoding="utf-8"))
            named.update(extra for call in ast.walk(tree) if (extra := extra_of(call)))
        extras = set(PROJECT["project"]["optional-dependencies"])
        assert {extra for names in named for extra in names.split(",")} <= extras

    def test_every_ignored_rule_has_its_reason(self):
        text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
        ignored = text[text.index("\nignore = [") : text.index("\n]", text.index("\nignore = ["))]
        assert all("#" in line for line in ignored.splitlines()[2:])

    def test_no_file_names_a_registry_host(self):
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        hosts = re.compile(
            "|".join(("py" + "pi\\.org", "python" + "hosted\\.org", "registry\\." + "npmjs", "deb\\." + "debian"))
        )
        names = [
            name for name in listed.splitlines() if (ROOT / name).is_file() and (ROOT / name).stat().st_size < 1_000_000
        ]
        assert not [name for name in names if hosts.search((ROOT / name).read_text(encoding="utf-8", errors="ignore"))]


class TestMake:
    def make(self, *arguments: str, path: str | None = None) -> subprocess.CompletedProcess[str]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
        if path is not None:
            environment["PATH"] = path
        return subprocess.run(
            ["/usr/bin/make", *arguments], cwd=ROOT, capture_output=True, text=True, env=environment, check=False
        )

    @pytest.mark.skipif(not Path("/usr/bin/make").exists(), reason="make is elsewhere")
    @pytest.mark.parametrize("target", ["demo", "test", "check", "bench", "soak", "docs", "clean"])
    def test_has_the_command(self, target):
        done = self.make("-n", target, "VENV=/nonexistent/venv", f"PYTHON={sys.executable}")
        assert done.returncode == 0, done.stderr

    @pytest.mark.skipif(not Path("/usr/bin/make").exists(), reason="make is elsewhere")
    def test_says_what_is_missing_without_a_new_enough_python(self, tmp_path):
        old = tmp_path / "old-python"
        old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        old.chmod(0o755)
        done = self.make("demo", f"VENV={tmp_path}/venv", f"PYTHON={old}")
        assert done.returncode != 0
        assert "Python 3.11 or newer" in done.stderr
        assert not (tmp_path / "venv").exists()


OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def value_of(node: ast.expr) -> float:
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.BinOp(left, sign, right):
            return OPERATORS[type(sign)](value_of(left), value_of(right))
    raise ValueError(ast.dump(node))


class TestSamples:
    @pytest.mark.parametrize("exam", ["science", "sentiment", "arithmetic"])
    def test_are_at_least_sixty_with_demos_apart(self, exam):
        test, train = rows(exam, "test"), rows(exam, "train")
        assert len(test) >= 60
        assert len(train) >= 8
        words = [row.get("question") or row["text"] for row in test + train]
        assert len(set(words)) == len(words)
        assert len({row["id"] for row in test + train}) == len(words)

    def test_science_has_four_different_choices_and_no_favourite_letter(self):
        for split in ("test", "train"):
            for row in rows("science", split):
                assert len(set(row["choices"])) == 4, row["id"]
                assert 0 <= row["answer"] < 4
        counts = Counter(row["answer"] for row in rows("science", "test"))
        assert max(counts.values()) - min(counts.values()) <= 1

    def test_sentiment_is_balanced(self):
        for split in ("test", "train"):
            counts = Counter(row["label"] for row in rows("sentiment", split))
            assert counts["positive"] == counts["negative"] == sum(counts.values()) / 2

    def test_arithmetic_answers_are_what_the_expression_gives(self):
        for row in rows("arithmetic", "test") + rows("arithmetic", "train"):
            assert value_of(ast.parse(row["expression"], mode="eval").body) == row["answer"], row["id"]

    def test_arithmetic_questions_name_the_numbers_of_their_expression(self):
        spelled = {
            "one": 1,
            "two": 2,
            "three": 3,
            "four": 4,
            "five": 5,
            "six": 6,
            "seven": 7,
            "eight": 8,
            "nine": 9,
            "ten": 10,
        }
        spelled |= {"eleven": 11, "fifteen": 15, "twenty-five": 25, "fifty-six": 56, "seventy-five": 75, "ninety": 90}
        spelled |= {
            "half": 2,
            "twice": 2,
            "third": 3,
            "quarter": 4,
            "tenth": 10,
            "square": 4,
            "around": 2,
            "both ends": 1,
        }
        # known to every reader: days of a week, hours of a day, minutes of an hour, months, legs, sides, edges
        implied = {"7", "24", "60", "31", "12", "4", "3"}
        for row in rows("arithmetic", "test") + rows("arithmetic", "train"):
            said = set(re.findall(r"\d+", row["question"])) | {
                str(number) for word, number in spelled.items() if word in row["question"].lower()
            }
            unsaid = set(re.findall(r"\d+", row["expression"])) - said - implied
            assert not unsaid, (row["id"], unsaid)
