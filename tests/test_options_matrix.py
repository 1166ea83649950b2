"""Every option with every dialect: it changes the requests or the results, or is refused by name. Nothing else happens.

A dialect plugs in with files that make an exam (:data:`DIALECTS`); where an option needs another exam to have an effect
(choices, a config for chat models), ``exams`` names it. What no dialect could do otherwise is said, too: an entry of
``honours`` that begins with "no effect here" is told to whoever gives the option.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from proctor.cli.exam_options import read_options
from proctor.cli.run import command
from proctor.cli.run_options import spec_of_options
from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.run_file import options_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError, UsageError
from proctor.ir import Prompt, Response
from proctor.recipes.exam import Exam
from proctor.recipes.honours import flag_of
from proctor.recipes.option import DEPENDS, NO_EFFECT, Honoured, Option, Refused
from proctor.recipes.options import DECLARED, OPTIONS, ExamOptions
from proctor.running.run import run_exams
from proctor.running.spec import RunSpec
from proctor.settings import settings

WORDS = ("good", "bad", "fine", "awful", "bright", "dull", "calm", "rude", "kind", "cold", "warm", "sour")
ROWS = [
    {"text": f"a {word} day {place}", "label": place % 2, "answer": ("yes", "no")[place % 2], "topic": "abc"[place % 3]}
    for place, word in enumerate(WORDS * 2)
]


@dataclass(frozen=True)
class Dialect:
    """How the matrix asks a dialect.

    Attributes:
        write: Writes the exams' files into a folder and returns the exam to ask by default.
        exams: Other exams, for options that need them, by option.
        values: What is given where the value differs between dialects.
        beside: Options that an option is given with.
        refused: Options that the exam refuses by name, beside those that are declared to be refused.
        without_effect: Options that it accepts, has no use for, and says so, beside those that are declared so.
    """

    write: Callable[[Path], str]
    exams: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    refused: frozenset[str] = frozenset()
    without_effect: frozenset[str] = frozenset()


CHAT: Mapping[str, Any] = {"apply_chat_template": True}
META = {"round": [{"role": "HUMAN", "begin": "Q: "}, {"role": "BOT", "begin": "A: ", "generate": True}]}

VALUES: Mapping[str, Any] = {
    "num_demos": 1,
    "limit": 3,
    "samples": {"exam": [4, 1]},
    "seed": 7,
    "code_seeds": (3, 4),
    "apply_chat_template": True,
    "chat_template_model": "made-up",
    "meta_template": META,
    "model_config": "model.py::m",
    "demos_as_turns": False,
    "system_prompt": "Be brief.",
    "decoding": {"max_tokens": 3},
    "predict_only": True,
    "choices_as_text": True,
    "chat_override": True,
    "metadata": {"size": 5},
    "resamples": 10,
    "keys": {"description": "Now:"},
    "group_by": ("topic",),
    "repeats": 3,
    "reduce": ("best", "mean"),
    "clusters": "topic",
    "input_column": "topic",
    "answer_column": "topic",
    "choices_column": "options",
    "prompt": ("Say of {text}:",),
    "prompts": ("words.txt",),
    "metric": ("starts-with:y",),
    "judge": "dummy",
    "name": "coded",
    "template": "other",
    "truncated": "fail",
    "answers": "raw",
    "choice_order": 1,
    "perturb": "whitespace",
}
"""What each option is given as."""

BESIDE: Mapping[str, Mapping[str, Any]] = {
    "chat_template_model": CHAT,
    "demos_as_turns": CHAT,
    "reduce": {"repeats": 3},
}


# -- the dialects -------------------------------------------------------------------------------------------------


def _write_recipes(folder: Path) -> str:
    rows = [{**row, "classes": ["yes", "no"]} for row in ROWS]
    task = {
        "__type__": "task", "input_fields": {"text": "str", "classes": "List[str]"}, "metrics": ["metrics.accuracy"],
        "reference_fields": {"answer": "str", "topic": "str", "label": "int", "classes": "List[str]"},
        "prediction_type": "str",
    }  # fmt: skip
    loader = {"__type__": "load_from_dictionary", "data": {"train": rows[:12], "test": rows[12:]}}
    template = {"__type__": "input_output_template", "input_format": "{text}?", "output_format": "{answer}"}
    choices = {
        "__type__": "multiple_choice_template", "input_format": "{text} {numerals} {classes}?",
        "choices_field": "classes", "target_field": "label",
    }  # fmt: skip
    card = {"__type__": "task_card", "loader": loader, "task": task}
    recipe = {"__type__": "dataset_recipe", "card": card, "num_demos": 2, "demos_pool_size": 8}
    (folder / "exam.json").write_text(json.dumps({**recipe, "template": template}))
    vote = {**recipe, "template": template, "postprocessors": ["majority_vote"]}
    (folder / "vote.json").write_text(json.dumps(vote))
    (folder / "choice.json").write_text(json.dumps({**recipe, "template": choices, "request": "choose"}))
    return str(folder / "exam.json")


CODE = """
import random
import datasets

def rows(size=9, **_):
    found = ROWS[:size]
    random.shuffle(found)
    return {name: datasets.Dataset.from_list(found) for name in ("test", "train")}
"""


def _write_tasks(folder: Path) -> str:
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    data = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / "rows.jsonl"), "train": str(folder / "rows.jsonl")}},
        "test_split": "test",
        "fewshot_split": "train",
        "num_fewshot": 2,
        "doc_to_text": "{{text}}?",
    }
    writing = {
        **data,
        "task": "exam",
        "output_type": "generate_until",
        "doc_to_target": "{{answer}}",
        "chat_override": {"doc_to_text": "Chat: {{text}}?"},
        "metric_list": [{"metric": "exact_match"}],
    }
    choosing = {
        **data,
        "task": "choice",
        "output_type": "multiple_choice",
        "doc_to_choice": ["yes", "no"],
        "doc_to_target": "label",
        "metric_list": [{"metric": "mcc"}],
    }
    coded = {**writing, "task": "coded", "dataset_path": None, "custom_dataset": "FUNCTION"}
    function = "!function coded.rows"
    (folder / "coded.yaml").write_text(json.dumps(coded).replace('"FUNCTION"', function))
    (folder / "coded.py").write_text(CODE.replace("ROWS", repr(ROWS)))
    (folder / "exam.yaml").write_text(json.dumps(writing))  # JSON is YAML
    (folder / "choice.yaml").write_text(json.dumps(choosing))
    return str(folder / "exam.yaml")


CONFIG = """
DIALOGUE = dict(round=[dict(role='HUMAN', prompt='{text}?'), dict(role='BOT', prompt='{answer}')])
datasets = [dict(
    abbr='NAME', type='JsonlDataset', path='rows.jsonl',
    reader_cfg=dict(input_columns=['text'], output_column='answer'),
    infer_cfg=dict(
        ice_template=dict(type='PromptTemplate', template=DIALOGUE),
        prompt_template=dict(type='PromptTemplate', template=TEMPLATE, ice_token='</E>'),
        retriever=dict(type='RandomRetriever', ice_num=2), inferencer=dict(type='INFERENCER')),
    eval_cfg=dict(evaluator=dict(type='AccEvaluator')))]
"""


def _write_configs(folder: Path) -> str:
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    forms = {
        "exam": ("dict(begin=['</E>'], **DIALOGUE)", "GenInferencer"),
        "choice": ("dict(yes='</E>{text}? yes', no='</E>{text}? no')", "PPLInferencer"),
    }
    for name, (template, inferencer) in forms.items():
        text = CONFIG.replace("TEMPLATE", template).replace("NAME", name).replace("INFERENCER", inferencer)
        (folder / f"{name}.py").write_text(text)
    return str(folder / "exam.py")


def _write_hub_yaml(folder: Path) -> str:
    (folder / "test.jsonl").write_text("".join(f"{json.dumps({**row, 'options': ['no', 'yes']})}\n" for row in ROWS))
    fields = {"input": "text", "target": "answer", "metadata": ["topic", "label"]}
    task = {"field_spec": fields, "solvers": [{"name": "generate"}], "scorers": [{"name": "match"}]}
    choosing = {
        "field_spec": {**fields, "target": "label", "choices": "options"}, "shuffle_choices": True,
        "solvers": [{"name": "multiple_choice"}], "scorers": [{"name": "choice"}],
    }  # fmt: skip
    for name, each in {"exam": task, "choice": choosing}.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({"tasks": [each]}))
    return str(folder / "exam.yaml")


def _write_promptfoo(folder: Path) -> str:
    asserted = [{"type": "equals", "value": "{{answer}}"}]
    config = {
        "prompts": ["{{text}}?"], "defaultTest": {"assert": asserted}, "tests": [{"vars": row} for row in ROWS],
    }  # fmt: skip
    (folder / "exam.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    return str(folder / "exam.yaml")


def _write_table(folder: Path) -> str:
    rows = [{**row, "question": row["text"]} for row in ROWS]
    choosing = [{**row, "options": ["no", "yes"], "picks": ["yes", "no"]} for row in rows]
    (folder / "words.txt").write_text("Say of {{text}}:")
    for name, each in {"exam": rows, "choice": choosing}.items():
        (folder / f"{name}.ndjson").write_text("".join(f"{json.dumps(row)}\n" for row in each))
    return str(folder / "exam.ndjson")


DIALECTS: Mapping[str, Dialect] = {
    "unitxt": Dialect(
        _write_recipes,
        exams={"choices_as_text": "choice.json", "choice_order": "choice.json"},
        values={"template": "templates.classification.multi_class.empty"},
    ),
    "lm_eval": Dialect(
        _write_tasks,
        exams={
            "choices_as_text": "choice.yaml",
            "metadata": "coded.yaml",
            "code_seeds": "coded.yaml",
            "resamples": "choice.yaml",
            "template": "choice.yaml",
        },
        values={"template": "mcq::numbered"},
        refused=frozenset({"choice_order"}),
    ),
    "aisbench": Dialect(
        _write_configs,
        exams={"choices_as_text": "choice.py"},
        refused=frozenset({"choices_as_text", "demos_as_turns", "choice_order"}),
    ),
    "hub_yaml": Dialect(
        _write_hub_yaml,
        exams={"seed": "choice.yaml", "choice_order": "choice.yaml"},
        beside={"chat_template_model": {}},
        refused=frozenset({"num_demos"}),
        without_effect=frozenset({"judge"}),
    ),
    "promptfoo": Dialect(
        _write_promptfoo,
        beside={"chat_template_model": {}},
        refused=frozenset({"num_demos", "choice_order"}),
        without_effect=frozenset({"judge", "seed"}),
    ),
    "tables": Dialect(
        _write_table,
        exams={
            "choices_as_text": "choice.ndjson",
            "choices_column": "choice.ndjson",
            "choice_order": "choice.ndjson",
        },
        values={"choices_column": "picks"},
        beside={"seed": {"num_demos": 2}, "demos_as_turns": {**CHAT, "num_demos": 2}},
        without_effect=frozenset({"metadata", "chat_override", "code_seeds", "judge"}),
    ),
}


def refuses(name: str, option: str) -> bool:
    """Whether a dialect refuses an option: as it is declared, or because of the exam."""
    entry = DECLARED[option].at(name)
    return option in DIALECTS[name].refused or (isinstance(entry, Refused) and entry is not DEPENDS)


def has_no_use(name: str, option: str) -> bool:
    """Whether a dialect has no use for an option: as it is declared, or because of the exam."""
    entry = DECLARED[option].at(name)
    return option in DIALECTS[name].without_effect or (isinstance(entry, Honoured) and entry.how.startswith(NO_EFFECT))


# -- the matrix ---------------------------------------------------------------------------------------------------


class _Tokenizer:
    """Stands for a model's tokenizer."""

    def apply_chat_template(self, messages: list[dict[str, Any]], **_: Any) -> str:
        return "".join(f"<{each['role']}>{each['content']}" for each in messages)


def _answer(prompt: Prompt) -> Response:
    """Say something that follows from the question, and that is right now and then; now and then it is cut off."""
    number = int((re.findall(r"\d+", prompt.text) or ["0"])[-1])
    word = "yes" if number % 3 else "no"
    return Response(
        texts=(f"<think>a day</think>{word}" if number % 2 else word,),
        finish_reasons=("stop" if number % 4 else "length",),
    )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("proctor.formats.tokenizer.load_tokenizer", lambda model: _Tokenizer())
    (tmp_path / "model.py").write_text(
        "models = [dict(type='HuggingFacewithChatTemplate', abbr='m', path='gpt', max_out_len=9, stop_words=['END'])]\n"
    )
    with settings.context(trust_code=True):
        yield tmp_path


def observed(exams: list[Exam], folder: Path, run: str) -> Any:
    """Return what an option could change: the requests, and the results."""
    requests = [
        [each.number, [request.key for request in each.requests]] for exam in exams for each in exam.questions()
    ]
    engine = ScriptedEngine(
        function=_answer, log_likelihood=lambda context, continuation: -len(context + continuation) % 7
    )
    return requests, run_exams(exams, engine, log=folder / f"{run}.db").results


def resolved(name: str, options: ExamOptions) -> list[Exam]:
    """Return exams, every one under the name that ``samples`` gives."""
    exams = resolve_tasks([name], options)
    assert [exam.name.partition("@")[0] for exam in exams] in (["exam"], ["choice"], ["coded"], ["vote"])
    return exams


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("name", DIALECTS)
def test_it_works_or_is_refused(name, option, folder):
    dialect = DIALECTS[name]
    default = dialect.write(folder)
    exam = str(folder / dialect.exams[option]) if option in dialect.exams else default
    beside = dict(dialect.beside.get(option, BESIDE.get(option, {})))
    given = ExamOptions(**beside, **{option: dialect.values.get(option, VALUES[option])})
    if refuses(name, option):
        with pytest.raises(UsageError) as raised:
            resolved(exam, given)
        assert any(flag_of(option) in each.what and each.why for each in raised.value.diagnostics)
        return
    (plain,), (changed,) = resolved(exam, ExamOptions(**beside)), resolved(exam, given)
    same = observed([plain], folder, "plain") == observed([changed], folder, "changed")
    entry = changed.honours[option]
    assert isinstance(entry, Honoured)
    assert same == has_no_use(name, option)
    assert entry.how.startswith(NO_EFFECT) == same


@pytest.mark.parametrize("name", DIALECTS)
def test_an_option_that_a_dialect_does_not_mention_is_refused(name, folder, monkeypatch):
    monkeypatch.setitem(DECLARED, "brand_new", Option(help="Nobody has heard of it."))
    monkeypatch.setattr("proctor.dialects.lm_eval.honours.OPTIONS", (*OPTIONS, "brand_new"))
    (exam,) = resolved(DIALECTS[name].write(folder), ExamOptions())
    assert not isinstance(exam.honours.get("brand_new"), Honoured)


@pytest.mark.parametrize("name", DIALECTS)
def test_every_option_is_given_and_every_exam_knows_it(name, folder):
    assert set(VALUES) == set(OPTIONS)
    (exam,) = resolved(DIALECTS[name].write(folder), ExamOptions())
    assert set(exam.honours) >= set(OPTIONS)


@pytest.mark.parametrize("name", DIALECTS)
def test_positions_of_exams_that_there_are_not_are_refused(name, folder):
    default = DIALECTS[name].write(folder)
    with pytest.raises(UsageError, match="--samples names 'exma'") as raised:
        resolve_tasks([default], ExamOptions(samples={"exma": [0]}))
    assert "did you mean 'exam'" in raised.value.diagnostics[0].hint


@pytest.mark.parametrize("name", DIALECTS)
def test_groups_are_scored_like_the_exam(name, folder):
    (exam,) = resolved(DIALECTS[name].write(folder), ExamOptions(group_by=("topic", ("topic", "label"))))
    engine = ScriptedEngine(function=_answer)
    (found,) = run_exams([exam], engine, log=folder / "log.db").results.values()
    groups = found["groups"]
    assert sum(group["n"] for group in groups) == 2 * found["n"]
    topics = {group["by"]["topic"]: group for group in groups if set(group["by"]) == {"topic"}}
    assert set(topics) == set("abc")
    mean = sum(group["score"] * group["n"] for group in topics.values()) / found["n"]
    assert mean == pytest.approx(found["score"])


@pytest.mark.parametrize("name", DIALECTS)
def test_a_field_that_no_instance_has_is_named_before_anybody_is_asked(name, folder):
    (exam,) = resolved(DIALECTS[name].write(folder), ExamOptions(group_by=("topik",)))
    asked: list[Prompt] = []
    with pytest.raises(ProctorError, match="topik"):
        run_exams([exam], ScriptedEngine(function=asked.append), log=folder / "log.db")
    assert not asked


@pytest.mark.parametrize("name", DIALECTS)
def test_the_steps_of_every_exam_can_be_shown(name, folder):
    (exam,) = resolved(DIALECTS[name].write(folder), ExamOptions())
    stages = [(title, {split: len(list(rows)) for split, rows in streams.items()}) for title, streams in exam.stages()]
    assert stages[0][1]
    assert all(title and counts for title, counts in stages)


@pytest.mark.parametrize("name, own", [("unitxt", 42), ("lm_eval", 1234), ("aisbench", 43)])
def test_an_exam_says_with_which_seed_it_draws(name, own, folder):
    default = DIALECTS[name].write(folder)
    (exam,), (seeded,) = resolved(default, ExamOptions()), resolved(default, ExamOptions(seed=7))
    assert (exam.seed, exam.specification()["seed"]) == (own, own)
    assert (seeded.seed, seeded.specification()["seed"]) == (7, 7)


# -- the command line ---------------------------------------------------------------------------------------------

TYPED: Mapping[str, str] = {
    "num_demos": "--num-demos=1",
    "limit": "--limit=0.5",
    "samples": '--samples={"exam": [4]}',
    "seed": "--seed=7",
    "code_seeds": "--code-seeds=3,4",
    "apply_chat_template": "--apply-chat-template",
    "meta_template": "--meta-template=meta.json",
    "demos_as_turns": "--demos-as-turns",
    "system_prompt": "--system-prompt=Be brief.",
    "decoding": "--decoding=max_tokens=3",
    "predict_only": "--predict-only",
    "chat_override": "--chat-override",
    "metadata": "--metadata=size=5",
    "group_by": "--group-by=topic",
    "repeats": "--repeats=3",
    "reduce": "--reduce=best",
    "clusters": "--clusters=topic",
    "input_column": "--input-column=topic",
    "answer_column": "--answer-column=topic",
    "choices_column": "--choices-column=options",
    "choice_order": "--choice-order=1",
    "perturb": "--perturb=whitespace",
    "prompt": "--prompt=Say of {text}:",
    "prompts": "--prompts=words.txt",
    "metric": "--metric=includes",
    "judge": "--judge=dummy",
    "name": "--name=coded",
    "template": "--template=other",
    "truncated": "--truncated=fail",
    "answers": "--answers=raw",
}
"""How each option of exams is typed."""

OF_MODELS = frozenset(
    {"model", "model_args", "batch_size", "device", "max_concurrency", "truncate", "thinking", "thinking_tokens"}
)
"""Who is asked: engines honour these or refuse them, whoever wrote the exam."""

OF_RUNS = frozenset(
    {
        "named", "tasks", "output", "log", "log_samples", "retry_failed", "retry_verdicts", "refresh", "budget_tokens", "budget_usd", "prices",
        "precision", "draw", "others", "tags", "executor", "batch", "shard", "workers", "gpus_per_worker", "ray_address", "output_format", "write_out",
        "fail_under", "allow_failures", "every_score", "as_json", "quiet", "gen_kwargs", "criteria", "include_paths", "trust_code",
        "sandbox", "allow", "traceback", "no_wall",
    }
)  # fmt: skip
"""What becomes of a run as a whole: where it is kept, when it stops, what is printed, what exams may do."""


def test_every_option_that_can_be_typed_has_a_place():
    """An option that is new fails here until the matrix, or one of the sets above, has it."""
    typed = {each.name for each in command.params}
    assert typed - OF_MODELS - OF_RUNS == set(TYPED)
    assert typed >= OF_MODELS | OF_RUNS
    assert set(TYPED) == {name for name in OPTIONS if DECLARED[name].flags}


def _spec(folder: Path, *typed: str) -> RunSpec:
    (folder / "meta.json").write_text(json.dumps(META))
    context = command.make_context("run", ["--model", "dummy", "--tasks", "exam", *typed])
    return spec_of_options(read_options(dict(context.params)))


@pytest.mark.parametrize("option", TYPED)
def test_what_is_typed_reaches_the_exams_and_is_kept_for_the_next_time(option, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    changed = _spec(tmp_path, TYPED[option])
    assert changed != _spec(tmp_path)
    again = RunSpec.from_yaml(changed.to_yaml())
    assert getattr(options_of(again), option) == getattr(options_of(changed), option)
    assert getattr(options_of(again), option) != getattr(ExamOptions(), option)
