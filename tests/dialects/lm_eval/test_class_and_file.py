"""A class of a task that overrides nothing asks, and scores, what a file with its keys does."""

import json

import pytest
import yaml

from proctor.dialects.lm_eval.classes.configurable_task import ConfigurableTask
from proctor.dialects.lm_eval.python_task import object_exam
from proctor.dialects.lm_eval.resolve import resolve
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams

ROWS = [
    {"q": f"question {n}", "choices": [f"a{n}", f"b{n}", "c"], "gold": n % 3, "text": f"b{n}", "start": f"S{n}",
     "both": ["c", f"a{n}"], "by_name": {"A": "x", "B": "y"}, "picture": f"file{n}.png"}
    for n in range(6)
]  # fmt: skip
CHOICE = {
    "output_type": "multiple_choice", "doc_to_text": "{{q}}:", "doc_to_choice": "choices", "doc_to_target": "gold",
    "metric_list": [{"metric": "acc"}],
}  # fmt: skip
WRITTEN = {
    "output_type": "generate_until", "doc_to_text": "{{q}}:", "doc_to_target": "text",
    "generation_kwargs": {"until": ["\n"]}, "metric_list": [{"metric": "exact_match"}],
}  # fmt: skip
MAJORITY = {"function": "majority_vote"}, {"function": "take_first"}
KEYS = {
    "choices": CHOICE,
    "choices with shots": CHOICE | {"num_fewshot": 2, "target_delimiter": "\n", "fewshot_delimiter": "##"},
    "choices of demos": CHOICE | {"num_fewshot": 2, "fewshot_config": {"doc_to_choice": ["one", "two", "three"]}},
    "a prefix": CHOICE | {"num_fewshot": 1, "gen_prefix": "It is"},
    "a prefix of demos": WRITTEN
    | {"num_fewshot": 2, "gen_prefix": "It is", "fewshot_config": {"gen_prefix": "start", "doc_to_target": "start"}},
    "mutual information": CHOICE | {"metric_list": [{"metric": "acc_mutual_info"}]},
    "several inputs": CHOICE | {"doc_to_text": "{{gold}}", "doc_to_target": "{{q}}"},
    "several right ones": CHOICE | {"doc_to_target": [0, 1]},
    "texts": WRITTEN | {"num_fewshot": 1, "description": "About {{start}}. "},
    "several texts": WRITTEN | {"doc_to_target": "both"},
    "repeats": WRITTEN | {"repeats": 3, "filter_list": [{"name": "vote", "filter": list(MAJORITY)}]},
    "likelihood": WRITTEN | {"output_type": "loglikelihood", "metric_list": [{"metric": "perplexity"}]},
    "rolling": WRITTEN | {"output_type": "loglikelihood_rolling", "metric_list": [{"metric": "bits_per_byte"}]},
    "pictures": WRITTEN | {"doc_to_image": ["picture"], "doc_to_text": "<image>{{q}}"},
}
LAYOUTS = {
    "plain": {},
    "system": {"system_prompt": "Be brief."},
    "chat": {"apply_chat_template": True, "demos_as_turns": False, "system_prompt": "Be brief."},
    "turns": {"apply_chat_template": True, "demos_as_turns": True},
}


ANSWERS = ["b1", "c", "b1"]


def _length(context, continuation):
    """A log-likelihood that tells contexts and continuations apart."""
    return -float(len(context) % 7 + len(continuation))


class Made(ConfigurableTask):
    """A class that says nothing of its own."""


@pytest.fixture
def both(tmp_path):
    """Return the exam of a file and that of a class, of the same keys."""
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS))

    def make(keys, **options):
        files = {"data_files": {"test": str(rows), "train": str(rows)}}
        config = {
            "task": "t", "dataset_path": "json", "dataset_kwargs": files, "test_split": "test",
            "fewshot_split": "train", **keys,
        }  # fmt: skip
        (tmp_path / "t.yaml").write_text(yaml.safe_dump(config))
        given = ExamOptions(limit=4, **options)
        (of_file,) = resolve(["t"], (str(tmp_path),), given)
        return of_file, object_exam("t", Made(config=config), given)

    return make


def _asked(exam):
    return [[(type(each), each.key) for each in question.requests] for question in exam.questions()]


def _scores(row):
    return {name: value for name, value in row.items() if isinstance(value, float)}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_a_class_asks_what_its_file_asks(both, keys, layout):
    if "doc_to_image" in keys and layout is LAYOUTS["system"]:
        pytest.skip("without a chat the class has one text, as in lm-eval; a file is asked in messages all the same")
    of_file, of_class = both(keys, **layout)
    assert _asked(of_class) == _asked(of_file)


@pytest.mark.parametrize("name", [name for name in KEYS if name != "pictures"])
def test_a_class_scores_what_its_file_scores(both, tmp_path, name):
    of_file, of_class = both(KEYS[name])
    found = [
        run_exams([exam], ScriptedEngine(answers=ANSWERS, log_likelihood=_length), log=tmp_path / f"{place}.db")
        for place, exam in enumerate((of_file, of_class))
    ]
    scores = [_scores(each.results["t"]) for each in found]
    assert scores[0]
    assert scores[0] == scores[1]


def test_choices_that_are_no_list_are_refused(both):
    _, of_class = both(CHOICE | {"doc_to_choice": "by_name"})
    with pytest.raises(ProctorError, match="not a list"):
        list(of_class.questions())
