"""The page of sweeps."""

from __future__ import annotations

import json

import pytest

from proctor.errors import UsageError
from proctor.web.library import Library
from proctor.web.rendering import render
from proctor.web.sweep_pages import sweep_report, sweeps

CELLS = [
    {"name": f"{template} · {demos}", "folder": "x", "levels": {"template": template, "demos": demos}, "metric": "acc",
     "score": score, "low": score - 0.1, "high": score + 0.1, "n": 9, "failures": 0}
    for template, demos, score in (("<b>", "0", 0.2), ("<b>", "5", 0.4), ("long", "0", 0.6))
]  # fmt: skip
RECORD = {"schema_version": 1, "exam": "exam", "model": "m", "readings": [], "cells": CELLS, "result": {
    "metric": "acc", "unit": "share", "higher_is_better": True, "questions": 9, "cells": CELLS, "notes": ["a note"],
}}  # fmt: skip


class _Request:
    def __init__(self, **chosen):
        self.query_params = chosen


def test_the_page_shows_the_sweep_that_is_chosen_and_names_the_others(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sweep.json").write_text(json.dumps({**RECORD, "exam": f"exam {name}"}))
    library = Library([tmp_path])
    page, values = sweeps(library, _Request())
    text = render(page, path="/sweeps", **values)
    assert "exam one" in text
    assert "a note" in text
    assert "<b>" not in text
    assert text.count("<svg") == 3
    assert text.count("shade-") == 3
    assert "not asked" in text
    second = next(each for each, name in values["names"].items() if name == "two")
    page, values = sweeps(library, _Request(sweep=second))
    assert "exam two" in render(page, path="/sweeps", **values)


def test_without_sweeps_the_page_says_how_to_make_one(tmp_path):
    page, values = sweeps(Library([tmp_path]), _Request())
    assert "No sweep has results here" in render(page, path="/sweeps", **values)


@pytest.mark.parametrize("result", [{}, {"cells": 3}, [], {**RECORD["result"], "components": [{}]}])
def test_a_damaged_sweep_is_named(tmp_path, result):
    (tmp_path / "sweep.json").write_text(json.dumps({**RECORD, "result": result}))
    with pytest.raises(UsageError, match="damaged"):
        sweeps(Library([tmp_path]), _Request())


def test_a_report_needs_nothing_else():
    text = sweep_report(RECORD)
    assert "<script" not in text
    assert "href=" not in text


def test_what_a_model_says_is_shown_as_an_estimate():
    cells = [{**cell, "estimate": {"score": 0.7, "low": 0.6, "high": 0.8}} for cell in CELLS]
    told = {
        "estimated": {"method": "a model", "asked": 5, "of": 27, "scored": 5, "mean": {"score": 0.7, "low": 0.6, "high": 0.8}},
        "over_wordings": {"mean": 0.7, "low": 0.5, "high": 0.9, "naive_low": 0.6, "naive_high": 0.8, "questions": 9},
        "distribution": {"quantiles": [{"of": 0.5, "score": 0.7, "low": 0.6, "high": 0.8}], "worst": "long"},
    }  # fmt: skip
    text = sweep_report({**RECORD, "result": {**RECORD["result"], "cells": cells, **told}})
    assert "asked for 5 of 27 answers (18.5%); what follows is ESTIMATED by a model, not measured" in text
    assert text.count("estimated from a part") >= 4
    assert "Mean scores, estimated from a part by" in text
    assert text.count("0.7000") >= 6
