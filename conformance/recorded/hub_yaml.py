"""What is compared with inspect: prompts and scores of ``eval.yaml`` tasks, and verdicts of scorers on many answers."""

# ruff: noqa: RUF001 - digits of other scripts are what is compared

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml
from conformance.hub_yaml.made_up_answers import JUDGED, SAID, WORDS, Model
from conformance.recorded import adapter
from conformance.recorded.recording import Answers, Case, Comparison, answer
from pyarrow import parquet

from proctor.errors import ProctorError
from proctor.settings import settings

HERE = Path(__file__).resolve().parents[1] / "hub_yaml"
SEED = 20261123
TEXTS = 30
"""Completions that each scorer with each of its arguments and targets gets."""

# -- tasks --------------------------------------------------------------------------------------------------------

_ROWS = [
    {
        "question": f"What is {word}, number {number}?",
        "answer": WORDS[(number + 1) % len(WORDS)] if number % 3 else word,
        "letter": "ABCD"[number % 4],
        "place": number % 4,
        "options": [f"{word} {each}" for each in ("one", "two", "three", "four")],
        "a": f"first {number}",
        "b": "second {letter}",
        "topic": "things {a}" if number % 2 else "[END DATA] topic",
        "level": number,
    }
    for number, word in enumerate(WORDS)
]
_QA: dict[str, Any] = {"field_spec": {"input": "question", "target": "answer", "metadata": ["topic", "level"]}}
_MCQ: dict[str, Any] = {"field_spec": {"input": "question", "target": "letter", "choices": "options"}}


def _task(fields: Mapping[str, Any], solvers: Sequence[Any], scorers: Sequence[Any], **more: Any) -> dict[str, Any]:
    def step(each: Any) -> dict[str, Any]:
        return {"name": each} if isinstance(each, str) else {"name": each[0], "args": each[1]}

    return {**fields, "solvers": [step(each) for each in solvers], "scorers": [step(each) for each in scorers], **more}


_TEMPLATE = (
    "prompt_template",
    {"template": "On {topic} ({level:>3}, {extra}, {unknown}, {unknown!r}): {prompt}", "extra": "x"},
)
_SOLVERS: tuple[tuple[Any, ...], ...] = (
    ("generate",),
    (("generate", {"max_tokens": 7, "temperature": 0.5, "stop_seqs": ["\n"]}),),
    (_TEMPLATE, "generate"),
    (("system_message", {"template": "You know {topic} and {nothing}."}), "generate"),
    (("system_message", {"template": "One {{brace}}"}), ("system_message", {"template": "Two"}), "generate"),
    (("user_message", {"template": "Say it of {topic}"}), "generate"),
    ("chain_of_thought", "generate"),
    (("chain_of_thought", {"template": "{prompt}\nThink {hard}."}), _TEMPLATE, "generate"),
    ("use_tools", "generate"),
    ("generate", "self_critique"),
    ("chain_of_thought", "generate", "self_critique"),
    (
        "generate",
        (
            "self_critique",
            {
                "critique_template": "{question}|{completion}|{topic}",
                "completion_template": "{critique} of {level} {completion}",
            },
        ),
    ),
    ("self_critique",),
    ("generate", ("user_message", {"template": "Are you sure about {topic}?"}), "generate"),
    ("generate", "self_critique", "self_critique", "chain_of_thought", "generate"),
)
_LETTERED: tuple[tuple[Any, ...], ...] = (
    ("multiple_choice",),
    (("multiple_choice", {"cot": True}),),
    (("multiple_choice", {"multiple_correct": True}),),
    (("multiple_choice", {"multiple_correct": True, "cot": True}),),
    (("multiple_choice", {"template": "{question}\n{choices}\nOne of {letters}"}),),
    (("multiple_choice", {"max_tokens": 5}),),
    (("system_message", {"template": "Short."}), "multiple_choice"),
    ("multiple_choice", "self_critique"),
)
_SCORERS: tuple[Any, ...] = (
    "includes",
    ("includes", {"ignore_case": False}),
    "match",
    ("match", {"location": "any", "numeric": True}),
    ("match", {"location": "begin"}),
    ("match", {"location": "exact", "ignore_case": False}),
    ("pattern", {"pattern": r"is (\w+)"}),
    ("pattern", {"pattern": r"(\w+) (\w+)", "match_all": True}),
    ("answer", {"pattern": "line"}),
    ("answer", {"pattern": "word"}),
    "exact",
    "f1",
    ("f1", {"stop_words": ["der", "is"]}),
    "math",
    "model_graded_qa",
    ("model_graded_qa", {"partial_credit": True}),
    ("model_graded_qa", {"include_history": True}),
    (
        "model_graded_qa",
        {
            "instructions": "Say GRADE: C or I about {it}",
            "template": "{question} {answer} {criterion} {topic} {instructions}",
        },
    ),
    ("model_graded_qa", {"grade_pattern": r"GRADE: (\w)"}),
    "model_graded_fact",
)
REDUCERS = ("mean", "median", "mode", "max", "pass_at_1", "pass_at_2", "at_least_1", "at_least_2", "at_least_3")


def tasks() -> Iterator[Case]:
    """Yield tasks with their rows: every solver, every scorer, every reducer."""
    made = [_task(_QA, each, ["includes"]) for each in _SOLVERS]
    made += [_task(_QA, ["generate"], [each]) for each in _SCORERS]
    made += [
        _task(_QA, ["generate", "self_critique"], ["model_graded_qa", ("model_graded_fact", {"include_history": True})])
    ]
    made += [_task(_QA, [("user_message", {"template": "?"}), "generate"], ["match", "f1", "exact"])]
    made += [_task(_MCQ, each, ["choice"]) for each in _LETTERED]
    made += [_task(_MCQ, ["multiple_choice"], ["choice", ("answer", {"pattern": "letter"})], shuffle_choices=True)]
    place, columns = {"input": "question", "target": "place"}, {"input": "question", "target": "literal:B"}
    made += [_task({"field_spec": {**place, "choices": "options"}}, ["multiple_choice"], ["choice"])]
    made += [_task({"field_spec": {**columns, "choices": ["a", "b"]}}, ["multiple_choice"], ["choice"])]
    made += [_task({"field_spec": place}, ["generate"], ["match"])]
    for reducer in REDUCERS:
        made += [_task(_QA, ["generate"], ["includes", "f1"], epochs=3, epoch_reducer=reducer)]
        made += [_task(_MCQ, ["multiple_choice"], ["choice"], epochs=3, epoch_reducer=reducer)]
    made += [
        _task(_QA, ["generate"], ["model_graded_qa"], epochs=4, epoch_reducer=each) for each in ("mean", "pass_at_2")
    ]
    made += [_task(_QA, ["generate"], ["includes"], epochs=2)]
    for task in made:
        yield {"kind": "task", "task": task, "rows": _ROWS}
    chats = [
        {**row, "question": [{"role": "system", "content": "Hm."}, {"role": "user", "content": row["question"]}]}
        for row in _ROWS
    ]
    for solvers in (("generate",), (_TEMPLATE, ("system_message", {"template": "More."}), "generate", "self_critique")):
        yield {"kind": "task", "task": _task(_QA, solvers, ["includes", "model_graded_fact"]), "rows": chats}
    pictures = [
        {**row, "picture": f"data:image/png;base64,{row['level']:04d}" if row["level"] % 2 else ""} for row in _ROWS
    ]
    seen = {"field_spec": {"input": "question", "target": "answer", "input_image": "picture", "metadata": ["topic"]}}
    for solvers in (("generate",), ("chain_of_thought", "generate")):
        yield {"kind": "task", "task": _task(seen, solvers, ["includes"]), "rows": pictures}


def task_answers(case: Case) -> Answers:
    """Return what Proctor asks and finds."""
    from proctor.engines.scripted import ScriptedEngine
    from proctor.ir import Prompt

    model, judge = Model(SAID), Model(JUDGED)

    def speaking(who: Model) -> Any:
        def function(prompt: Prompt) -> str:
            return who.answer([[each["role"], _content(each["content"])] for each in prompt.messages])

        return ScriptedEngine(function=function)

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "org" / "data"
        place.mkdir(parents=True)
        (place / "eval.yaml").write_text(yaml.safe_dump({"tasks": [case["task"]]}), encoding="utf-8")
        parquet.write_table(pa.Table.from_pylist(case["rows"]), place / "test.parquet")
        with settings.context(hub_dir=folder, judge=speaking(judge)):
            try:
                exam = adapter.exam_of("hf/org/data")
                grade = adapter.grade_of(exam, speaking(model))
            except ProctorError as error:
                return {"error": str(error)}
    found: dict[str, Any] = {"prompts": sorted(model.calls), "judged": sorted(judge.calls)}
    names = [each.name for each in grade.table]
    for number, name in enumerate(names):
        bare, _, grading = name.partition(",")
        found[f"{number}.{bare}"] = grade.scores[name]
        error = grade.scores[f"{bare}_stderr,{grading}" if grading else f"{bare}_stderr"]
        found[f"{number}.stderr"] = error
        found[f"{number}.samples"] = [float(each) for each in grade.instance_scores[name] if each is not None]
    return found


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [each["text"] if each["type"] == "text" else {"image": each["image_url"]["url"]} for each in content]


# -- scorers ------------------------------------------------------------------------------------------------------

_PARTS = (
    "ANSWER:",
    "answer is",
    "12",
    "-3.5",
    "1,234",
    "$20",
    "\\$20.",
    "½",
    "3²",
    "十二",
    "二十五",
    "三点五",
    "１２",
    "50%",
    "1e3",
    "0.50",
    "Paris",
    "paris.",
    "the",
    "a",
    "**B**",
    "(C)",
    "$D$",
    "A, B",
    "B and C",
    "yes",
    "NO!",
    "\n",
    "\n\n",
    "x^2",
    "\\frac{1}{2}",
    "\\boxed{12}",
    "$x=2$",
    "2*x",
    "\\sqrt{2}",
    "sqrt(2)",
    "1/2",
    "{1,2}",
    "(1, 2)",
    "pi",
    "\\pi",
    "état",
    "ß",
    "-",
    "−5",
    "1.234,5",
    "€3",
    "_7_",
    "42!",
    "[42]",
)
_SCORED: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "includes": ({}, {"ignore_case": False}),
    "match": tuple(
        {"location": place, "numeric": numeric, "ignore_case": place != "any"}
        for place in ("begin", "end", "any", "exact")
        for numeric in (False, True)
    ),
    "pattern": (
        {"pattern": r"(\d+)"},
        {"pattern": r"answer is (\S+)", "ignore_case": False},
        {"pattern": r"\d+"},
        {"pattern": r"(\w+)?\s(\w+)", "match_all": True},
        {"pattern": r"(\w*)"},
    ),
    "answer": ({"pattern": "letter"}, {"pattern": "word"}, {"pattern": "line"}),
    "exact": ({},),
    "f1": ({}, {"stop_words": ["the", "Paris"]}),
    "math": ({},),
}
_TARGETS: tuple[tuple[str, ...], ...] = (
    ("12",),
    ("Paris",),
    ("paris", "12"),
    ("-5",),
    ("0.5",),
    ("1234",),
    ("20",),
    ("A",),
    ("B",),
    ("yes",),
    ("the",),
    ("3.5",),
)
_FORMULAS: tuple[tuple[str, ...], ...] = (
    ("12",),
    ("\\frac{1}{2}",),
    ("2",),
    ("x^2",),
    ("\\sqrt{2}",),
    ("\\pi",),
    ("50\\%",),
    ("(1, 2)",),
    ("\\{1,2\\}",),
    ("Paris",),
    ("1,234",),
    ("2x",),
)


def verdicts() -> Iterator[Case]:
    """Yield answers for every scorer that asks nobody."""
    for scorer, arguments in _SCORED.items():
        for args in arguments:
            for targets in _FORMULAS if scorer == "math" else _TARGETS:
                stream = random.Random(f"{SEED}/{scorer}/{args}/{targets}")
                texts = [_text(stream, targets) for _ in range(TEXTS)]
                yield {"kind": "score", "scorer": scorer, "args": dict(args), "targets": list(targets), "texts": texts}


def _text(stream: random.Random, targets: Sequence[str]) -> str:
    parts = stream.choices(_PARTS, k=stream.randint(0, 4))
    if stream.random() < 0.4:
        parts.insert(stream.randint(0, len(parts)), stream.choice(targets))
    return stream.choice((" ", "", "\n")).join(parts)


def verdict_answers(case: Case) -> Answers:
    """Return Proctor's verdicts."""
    try:
        check = adapter.hub_check(case["scorer"], case["args"])
    except ProctorError as error:
        return {"error": str(error)}
    return {f"{number:02d}": _verdict(check, text, case["targets"]) for number, text in enumerate(case["texts"])}


def _verdict(check: Any, text: str, targets: Sequence[str]) -> Any:
    try:
        return check(text, targets).value
    except ProctorError:
        return "!"


def _explain(case: Case, name: str, theirs: Any, ours: Any) -> str:
    del case, name
    return "inspect/set-as-number" if (theirs, ours) == ("crash", "I") else ""


# -- comparisons --------------------------------------------------------------------------------------------------


def comparisons(python: str) -> list[Comparison]:
    """Return what is compared with inspect."""

    def theirs(cases: Sequence[Case]) -> list[Answers]:
        with tempfile.TemporaryDirectory() as folder:
            asked, answered = Path(folder) / "cases.json", Path(folder) / "answers.json"
            asked.write_text(json.dumps(cases), encoding="utf-8")
            answer([python, str(HERE / "oracle.py"), str(asked), str(answered)])
            found: list[Answers] = json.loads(answered.read_text(encoding="utf-8"))
            return found

    return [
        Comparison("hub_yaml/tasks", "inspect", tasks, task_answers, theirs, lambda *_: ""),
        Comparison("hub_yaml/verdicts", "inspect", verdicts, verdict_answers, theirs, _explain),
    ]
