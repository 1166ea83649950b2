"""Programs that put something else upon lm-eval's names: they see it used, or are told that it is not."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from proctor.dialects.lm_eval.filters import make_filter

pytestmark = pytest.mark.usefixtures("installed")


def test_a_method_put_upon_a_filter_class_reaches_task_files(monkeypatch: pytest.MonkeyPatch) -> None:
    from lm_eval.filters.transformation import LowercaseFilter

    step = {"function": "lowercase"}
    assert list(make_filter(step).filtered([["Ab"]], [{}])) == [["ab"]]
    monkeypatch.setattr(LowercaseFilter, "apply", lambda self, resps, docs: [["mine"] for _ in resps])
    assert list(make_filter(step).filtered([["Ab"]], [{}])) == [["mine"]]
    monkeypatch.undo()
    assert list(make_filter(step).filtered([["Ab"]], [{}])) == [["ab"]]


def test_a_function_put_upon_a_module_is_said_not_to_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    import lm_eval.api.metrics as metrics

    said: list[str] = []
    log = SimpleNamespace(warning=lambda text, *names: said.append(text % names))
    monkeypatch.setattr("proctor.guests.rooms.get_logger", lambda: log)
    known: Any = metrics.mean
    monkeypatch.setattr(metrics, "mean", lambda values: 0.5)
    assert [each.partition(":")[0] for each in said] == ["lm_eval.api.metrics.mean is replaced"]
    monkeypatch.setattr(metrics, "mean", known)
    metrics.of_my_own = lambda: None  # type: ignore[attr-defined]
    assert len(said) == 1
