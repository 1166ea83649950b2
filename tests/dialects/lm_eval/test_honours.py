"""Every option of a run: it works, it is refused with the reason, or it says that it has no effect here."""

import json

import pytest

from proctor.dialects.lm_eval.resolve import resolve
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Response, Scored
from proctor.recipes.exam import Answered
from proctor.recipes.honours import Honoured, Refused, without_effect
from proctor.recipes.options import OPTIONS, ExamOptions
from proctor.settings import settings

HEAD = """
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl}}
test_split: test
doc_to_target: n
"""
KINDS = {
    "choice": "output_type: multiple_choice\ndoc_to_text: '{{q}}'\ndoc_to_choice: [a, b, c]\nchat_override: {doc_to_text: 'C {{q}}'}",
    "text": "doc_to_text: '{{q}}'\ndoc_to_target: '{{q}}'",
    "likelihood": "output_type: loglikelihood\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{q}}'",
    "rolling": "output_type: loglikelihood_rolling\ndoc_to_text: ''\ndoc_to_target: '{{q}}'",
}


@pytest.fixture
def exam(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(json.dumps({"q": f"Q{n}", "n": n % 3}) for n in range(9)))
    for name, text in KINDS.items():
        (tmp_path / f"{name}.yaml").write_text(f"task: {name}{HEAD}{text}\n")

    def make(name, **options):
        (found,) = resolve([name], [str(tmp_path)], ExamOptions(**options))
        return found

    return make


def requests(exam):
    return [request.key for question in exam.questions() for request in question.requests]


def entries(exam):
    return {name: entry.how for name, entry in exam.honours.items() if isinstance(entry, Honoured)}


@pytest.mark.parametrize("kind", KINDS)
def test_every_option_has_an_entry(exam, kind):
    assert set(exam(kind).honours) == set(OPTIONS)


GIVEN = {
    "num_demos": 2,
    "limit": 3,
    "samples": {name: [1, 4] for name in KINDS},
    "seed": 5,
    "apply_chat_template": True,
    "meta_template": {"round": [{"role": "HUMAN", "begin": "<h>", "end": "</h>"}, {"role": "BOT", "begin": "<b>"}]},
    "system_prompt": "Be brief.",
    "decoding": {"max_tokens": 3},
    "choices_as_text": True,
    "chat_override": True,
    "repeats": 2,
    "keys": {"doc_to_text": "Other {{q}}", "doc_to_target": "{{q}}!", "doc_to_choice": None},
}
"""Options that change the requests of an exam, unless it says that they have no effect."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("option", GIVEN)
def test_an_option_changes_requests_or_says_that_it_does_not(exam, kind, option):
    value = GIVEN[option]
    if option == "keys" and kind == "choice":
        value = {"doc_to_text": "Other {{q}}"}
    base = {"num_demos": 1} if option == "seed" else {}
    plain, changed = exam(kind, **base), exam(kind, **base, **{option: value})
    assert not changed.refused()
    assert (requests(plain) == requests(changed)) == entries(changed)[option].startswith("no effect")


def test_metadata_reaches_the_python_that_makes_the_dataset(exam, tmp_path):
    (tmp_path / "data.py").write_text(
        "def make(size=1, **more):\n    return {'test': [{'q': str(n)} for n in range(size)]}\n"
    )
    (tmp_path / "made.yaml").write_text(
        "task: made\ncustom_dataset: !function data.make\ntest_split: test\ndoc_to_text: q\ndoc_to_target: q\n"
    )
    with settings.context(trust_code=True):
        assert len(requests(exam("made"))) == 1
        assert len(requests(exam("made", metadata={"size": 3}))) == 3
    assert entries(exam("text"))["metadata"].startswith("no effect")


def test_groups_of_documents(exam):
    made = exam("choice", group_by=("n",))
    reply = Response(scores=(Scored(-1.0, True), Scored(-2.0), Scored(-3.0)))
    grade = made.grade(Answered(question, (reply,)) for question in made.questions())
    assert [(group["by"], group["n"], group["acc"]) for group in grade.scores["groups"]] == [
        ({"n": 0}, 3, 1.0),
        ({"n": 1}, 3, 0.0),
        ({"n": 2}, 3, 0.0),
    ]
    (problem,) = exam("choice", group_by=("m",)).problems()
    assert "cannot group by 'm', which its documents do not have" in problem.what


def test_the_seed_has_no_effect_without_demos(exam):
    assert entries(exam("text", seed=5))["seed"] == "no effect here: no demos are drawn"
    assert entries(exam("text", seed=5, keys={"num_fewshot": 0}, num_demos=3))["num_demos"].startswith("no effect")


@pytest.mark.parametrize(
    "options, named",
    [
        ({"demos_as_turns": True}, "--demos-as-turns"),
        ({"chat_template_model": "some/model"}, "--chat-template-model"),
    ],
)
def test_what_no_task_could_use_is_refused(exam, options, named):
    (problem,) = exam("choice", **options).problems()
    assert problem.what == f"'choice' cannot honour {named}"
    assert "--apply-chat-template" in problem.hint


def test_turns_of_a_chat_are_honoured(exam):
    made = exam("choice", num_demos=1, demos_as_turns=True, apply_chat_template=True)
    assert not made.refused()
    assert not exam("choice", demos_as_turns=False).refused()


def test_a_template_that_there_is_not(exam):
    with pytest.raises(Exception, match="nonsense"):
        exam("choice", template="nonsense")


def test_choices_as_text_can_be_forbidden(exam):
    made = exam("choice", choices_as_text=False)
    assert not made.variants
    engine = ScriptedEngine(answer="a")
    assert made.suited_to(engine) is made
    assert "compares log-probabilities" in made.problems(engine)[0].why
    assert exam("choice").suited_to(engine).problems(engine) == []


CLASS = """
class Written:
    def __init__(self, config=None): ...
    def construct_requests(self, doc, ctx): ...
    def process_results(self, doc, results): ...
    def aggregation(self): ...
    def build_all_requests(self): ...
"""


def test_classes_refuse_what_is_their_own(exam, tmp_path):
    (tmp_path / "task.py").write_text(CLASS)
    (tmp_path / "own.yaml").write_text("task: own\nclass: !function task.Written\n")
    with settings.context(trust_code=True):
        given = {"clusters": "q", "decoding": {"max_tokens": 3}, "chat_override": True, "choices_as_text": True}
        made = exam("own", limit=2, system_prompt="S", **given)
    assert set(made.honours) == set(OPTIONS)
    named = {problem.what.rpartition(" ")[2] for problem in made.refused()}
    assert named == {"--clusters", "--decoding", "--chat-override", "--choices-as-text"}
    assert isinstance(made.honours["template"], Refused)


def test_a_limit_beside_chosen_instances_is_said():
    options = ExamOptions(limit=2, samples={"a": (0, 1, 2)})
    assert list(without_effect("a", {}, options)) == [
        "--limit has no effect on a: --samples says which of its instances are asked"
    ]
    assert not list(without_effect("b", {}, options))
