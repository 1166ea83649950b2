"""``--dry-run`` says what a run would do, and refuses what a run would refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.cli.__main__ import main

MODEL = ("--model", "scripted", "--model-args", "answer=1", "--log", "log.db")
COLUMNS = ("--input-column", "q", "--answer-column", "a")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def rows(count: int) -> None:
    Path("d.csv").write_text("q;a\n" + "".join(f"{place};1\n" for place in range(count)))


def run(*more: str) -> int:
    return main(["run", "d.csv", *MODEL, *COLUMNS, *more])


def folders() -> list[str]:
    return sorted(each.name for each in Path("runs").iterdir())


def test_the_folder_that_changed_rows_would_take_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    for count in (1, 2, 3):
        rows(count)
        before = folders() if Path("runs").is_dir() else []
        capsys.readouterr()
        assert run("--dry-run") == 0
        said = capsys.readouterr().err
        assert (folders() if Path("runs").is_dir() else []) == before
        assert run() == 0
        (new,) = set(folders()) - set(before)
        assert said.rstrip().endswith(f"the run folder would be {Path('runs', new)}")


@pytest.mark.parametrize("more", [(), ("--limit", "1")])
def test_a_named_folder_of_another_run_is_refused_as_a_run_refuses_it(
    capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    rows(2)
    assert run("--output", "out") == 0
    rows(3)
    said = []
    for dry in ((), ("--dry-run",)):
        capsys.readouterr()
        assert run("--output", "out", *more, *dry) == 2
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]
    assert "holds another run" in said[0]
