"""Messages in Chinese: looked up where they are printed, each a message that the sources still have."""

import ast
import re
import time
from pathlib import Path

import pytest

import proctor
from proctor import translation
from proctor.cli.__main__ import main
from proctor.translation import LABELS, is_chinese, table, translated

ROOT = Path(proctor.__file__).parent
_VARIABLES = ("PROCTOR_LANG", "LC_ALL", "LC_MESSAGES", "LANG")


def _template(node):
    """Return a text of the sources with ``{}`` for what is filled in; ``None`` for everything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.sub(r"%[sd]", "{}", node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)
    return None


@pytest.fixture(scope="module")
def messages():
    labels = re.compile(rf"\s*(?:{'|'.join(LABELS)}): ")
    nodes = (node for path in ROOT.rglob("*.py") for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    texts = {text for node in nodes if (text := _template(node)) is not None}
    return texts | {labels.sub("", text, count=1) for text in texts}


@pytest.fixture
def chinese(monkeypatch):
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PROCTOR_LANG", "zh")


@pytest.mark.parametrize("english", [each for each in table() if each not in LABELS])
def test_every_entry_is_a_message_of_the_sources(messages, english):
    plain = re.sub(r"\{\d\}", "{}", english)
    patterns = [plain, plain.replace("did you mean {}?", "did you mean '{}'?")]
    assert any(each in messages for each in patterns), f"no message reads {plain!r} any more"


def test_there_are_forty_and_holes_fit():
    assert len(table()) >= 45
    for english, chinese in table().items():
        assert set(re.findall(r"\{\d\}", chinese)) <= set(re.findall(r"\{\d\}", english)), english
        assert re.search(r"[\u4e00-\u9fff]", chinese), english


@pytest.mark.parametrize(
    "variables, wanted",
    [
        ({"PROCTOR_LANG": "zh"}, True),
        ({"LANG": "zh_CN.UTF-8"}, True),
        ({"LANG": "zh_TW", "LC_ALL": "C"}, False),
        ({"LANG": "zh_CN.UTF-8", "PROCTOR_LANG": "en"}, False),
        ({"LANG": "en_US.UTF-8"}, False),
        ({}, False),
    ],
)
def test_whose_language_it_is(monkeypatch, variables, wanted):
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert is_chinese() == wanted


@pytest.mark.usefixtures("chinese")
def test_labels_holes_and_messages_within_messages():
    assert translated("note: --limit is given more than once; the last one counts") == (
        "注意：--limit 写了不止一次，以最后一次为准"
    )
    assert translated("samples.jsonl has the reasons; to ask again what failed: proctor run runs/a/run.yaml") == (
        "原因见 samples.jsonl；要重新提问失败的题：proctor run runs/a/run.yaml"
    )
    assert translated("warning: 3 of 9 instances failed (refused: 3)") == "警告：9 道题中有 3 道失败 (refused: 3)"
    for text in ("nobody has translated this", "", "a\nb", "x" * 10_000):
        assert translated(text) == text


@pytest.mark.usefixtures("chinese")
def test_the_command_line_speaks_chinese(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\nq,a\n")
    assert main(["run", "q.csv", "-m", "dummy", "--answer-column", "anser"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "错误：--answer-column 里写了“anser”，但表格里没有这一列 (q.csv)",
        "  原因：表格的列：'question', 'answer'",
        "  提示：您是不是要写 'answer'？",
    ]
    assert main(["run", "q.csv"]) == 2
    assert "错误：没有指定模型\n  提示：请加上 --model smollm2" in capsys.readouterr().err
    assert main(["run", "q.csv", "-m", "dummy", "-o", "out"]) == 0
    assert "运行目录：out" in capsys.readouterr().err


def test_english_costs_nothing(monkeypatch):
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(translation, "table", None)
    assert translated("no model is named") == "no model is named"


def test_a_strangers_novel_is_looked_up_in_no_time(chinese):
    """Holes are found from left to right, once: patterns would try every place of every hole."""
    began = time.process_time()
    for parts, _ in translation._parts():
        for text in (" ".join(parts[::2]) * 40, "'" * 2000, f"{parts[0]}{'a, ' * 600}"):
            translated(text[:2000])
    assert time.process_time() - began < 2.0


def test_holes_between_holes_are_as_short_as_can_be(chinese):
    parts = ["a ", "0", ", ", "1", " z"]
    assert translation._held("a b, c, d z", parts) == {"0": "b", "1": "c, d"}
    assert translation._held("a b z", parts) is None
    assert translation._held("a , z", parts) is None, "what stands at the end is not in the middle as well"
    assert translation._held("x a b, c z", parts) is None
