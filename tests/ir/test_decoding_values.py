"""Values that say how a model writes are what their names want, wherever they are said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.errors import UsageError, ValidationError
from proctor.ir import KNOWN_DECODING, unfit_decoding
from proctor.recipes.options import ExamOptions

UNFIT = [
    *(("temperature", value) for value in ("hot", -1, float("nan"), True, [0.5])),
    *(("top_p", value) for value in ("x", 1.5, -0.1)),
    *((name, value) for name in ("max_tokens", "num_beams") for value in ("many", 0, -3, 2.5, True)),
    *((name, value) for name in ("top_k", "seed") for value in ("abc", 1.5)),
    ("do_sample", "maybe"),
    ("stop", 3),
    ("stop", ["a", 1]),
    ("no_repeat_ngram_size", -1),
]
FIT = [
    *(("temperature", value) for value in (0, 0.7, None)),
    *(("top_p", value) for value in (0, 1)),
    *((name, 0) for name in ("min_tokens", "no_repeat_ngram_size")),
    ("top_k", -1),
    ("seed", 7),
    ("max_tokens", 1),
    ("do_sample", False),
    ("stop", "\n"),
    ("stop", ("\n", "Q:")),
    ("frequency_penalty", -0.5),
    ("what_only_one_engine_knows", {"a": 1}),
]


@pytest.mark.parametrize("name, value", UNFIT, ids=str)
def test_unfit_values_are_found_and_refused_before_an_exam_is_built(name: str, value: Any) -> None:
    found = unfit_decoding({"logprobs": 1, name: value})
    assert found is not None
    assert found[0] == name
    assert name in KNOWN_DECODING
    with pytest.raises(UsageError, match=name):
        ExamOptions(decoding={name: value})


@pytest.mark.parametrize("name, value", FIT, ids=str)
def test_fit_values_and_unknown_names_pass(name: str, value: Any) -> None:
    assert unfit_decoding({name: value}) is None


def task_with(generation: str, folder: Path) -> Path:
    (folder / "rows.jsonl").write_text('{"q": "2+2", "a": "4"}\n')
    file = folder / "sums.yaml"
    file.write_text(
        "task: sums\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        f"output_type: generate_until\ndoc_to_text: '{{{{q}}}}'\ndoc_to_target: '{{{{a}}}}'\n"
        f"generation_kwargs: {generation}\nmetric_list: [{{metric: exact_match}}]\n"
    )
    return file


@pytest.mark.parametrize("generation", ["{temperature: hot}", "{max_gen_toks: many}", "{until: 3}", "{do_sample: 0}"])
def test_a_task_file_with_an_unfit_value_is_refused_with_its_place(generation: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as caught:
        resolve_tasks([str(task_with(generation, tmp_path))])
    (problem,) = caught.value.diagnostics
    assert problem.location is not None
    assert problem.path == f"$.generation_kwargs.{generation[1:].partition(':')[0]}"


def test_numbers_that_yaml_reads_as_texts_are_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (exam,) = resolve_tasks([str(task_with("{temperature: 1e-5, max_gen_toks: 32.0, do_sample: true}", tmp_path))])
    (request,) = next(iter(exam.questions())).requests
    assert (request.decoding.temperature, request.decoding.max_tokens) == (1e-5, 32)  # type: ignore[union-attr]
