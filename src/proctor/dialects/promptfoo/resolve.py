"""From a config to exams: one for each prompt, all about the rows that its tests are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from msgspec import structs

from proctor.artifacts import Artifact
from proctor.artifacts.effects_of import effects_of
from proctor.dialects.promptfoo import file_of
from proctor.dialects.promptfoo.assertions import ConfigAssertions
from proctor.dialects.promptfoo.prompts import PromptText, prompts_of
from proctor.dialects.promptfoo.providers import provider_of
from proctor.dialects.promptfoo.reader import Config, read_config
from proctor.dialects.promptfoo.rows import ASSERTED, TestRows, Tests
from proctor.effects import author_of_file
from proctor.errors import Diagnostic, Location, UnknownArtifactError, ValidationError, did_you_mean
from proctor.ir import Decoding, Exchange, Generate, Message, Prompt, Span, Turn
from proctor.ir.prompt import message_text
from proctor.ir.question import Ask, Question
from proctor.logs import get_logger
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import Context, Demos, Kind
from proctor.recipes.fingerprint import Definition
from proctor.recipes.honours import Honours, declared, reduces
from proctor.recipes.metric_words import PROMPT, judge_of, read_answers
from proctor.recipes.option import ASKS_NOBODY, Honoured, Refused, no_effect
from proctor.recipes.options import ExamOptions
from proctor.recipes.repeats import repeated
from proctor.recipes.row_changes import RowParts, honours_of_changes
from proctor.recipes.selection import Opened, Row
from proctor.scoring.assertion_metrics import TRANSFORM
from proctor.scoring.assertions import JUDGED
from proctor.scoring.grading.grader import ExamGrader
from proctor.scoring.grading.groups import GroupBy
from proctor.scoring.grading.protocols import Grading

MAX_TOKENS: Final = 1024
"""Most tokens of an answer, as promptfoo asks of models that say nothing else."""


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exams of a config, ``None`` where a name is none.

    Raises:
        ProctorError: It is one, and cannot be obeyed.
    """
    if (file := file_of(name)) is None:
        return None
    config = read_config(file)
    prompts, wanted = prompts_of(config), name.partition("::")[2]
    chosen = [each for each in prompts if wanted in ("", each.name)]
    if not chosen:
        names = [each.name for each in prompts]
        hint = did_you_mean(wanted, names) or f"there are {', '.join(names)}"
        raise UnknownArtifactError(f"'{file}' has no prompt '{wanted}'", hint=hint)
    tests = Tests(config).read()
    return [_exam(config, prompt, tests, options) for prompt in chosen]


def _exam(config: Config, prompt: PromptText, tests: Tests, options: ExamOptions) -> Exam:
    _check_names(config, prompt, tests.rows)
    judge = _judge(tests, options)
    of_config = [judge] if judge is not None and tests.judges and not options.judge else []
    scorer = ConfigAssertions(
        columns=[ASSERTED],
        question=f"{{{PROMPT}}}",
        fills=False,
        judge=judge,
        parses=_parses(config),
        folder=str(config.file.parent),
    )
    if problems := [_placed(config, tests, each) for each in scorer.check_rows(tests.rows)]:
        raise ValidationError(problems)
    is_scored = any(row[ASSERTED] for row in tests.rows)
    if not is_scored:
        get_logger().warning("%s asserts nothing: answers are recorded and not scored", config.file)
    grader = ExamGrader([Grading("", read_answers, (), [scorer])], group_by=GroupBy.of(options.group_by))
    decoding = options.decode(prompt.decoding)
    exam = Exam(
        name="-".join(filter(None, (config.name, prompt.name))),
        description=str(config.values.get("description") or f"{len(tests.rows)} tests of {config.file}"),
        dialect="promptfoo",
        source={"dialect": "promptfoo", "prompt": prompt.content, "rows": tests.rows},
        rows=TestRows(tests.rows),
        asker=PromptAsker(prompt, decoding, options.system_prompt, dict.fromkeys(_variables(tests.rows), "")),
        grader=grader.without_scorers() if options.predict_only or not is_scored else grader,
        options=options,
        honours=_honours(tests, options),
        author=config.author,
        effects=lambda: [effect for each in of_config for effect in effects_of(each)],
        define=lambda: Definition(
            metrics=[row[ASSERTED] + [row[each] for each in (TRANSFORM,) if each in row] for row in tests.rows],
            scorers=[scorer],
        ),
        parts=_parts(tests),
    )
    return repeated(exam, is_known_to_write=True)


def _parses(config: Config) -> bool:
    """Return whether every model of a config answers by a JSON schema: promptfoo gives code the object."""
    said = [each.get("config") if isinstance(each, Mapping) else None for each, _ in config.providers()]
    formats = [each.get("response_format") if isinstance(each, Mapping) else None for each in said]
    return bool(formats) and all(isinstance(each, Mapping) and each.get("type") == "json_schema" for each in formats)


def _placed(config: Config, tests: Tests, problem: Diagnostic) -> Diagnostic:
    """Return what is wrong with a row, with the place of its test."""
    row = re.fullmatch(r"\$\[(\d+)\]", problem.path)
    path = f"{tests.paths[int(row[1])]}.assert" if row else ""
    return replace(problem, location=problem.location or Location(str(config.file)), path=path or problem.path)


def _check_names(config: Config, prompt: PromptText, rows: Sequence[Row]) -> None:
    known = set(_variables(rows))
    if missing := sorted(prompt.names() - known):
        raise config.refuse(
            f"the prompt takes '{missing[0]}', which no test gives",
            "$.prompts",
            why=f"variables are {', '.join(sorted(known)) or 'none'}",
            hint=did_you_mean(missing[0], known) or "give it under 'vars' of tests or of defaultTest",
        )


def _variables(rows: Sequence[Row]) -> Iterator[str]:
    return (name for row in rows for name in row if not name.startswith("__"))


def _judge(tests: Tests, options: ExamOptions) -> Artifact | None:
    """Return who judges: whom the user names, else the config.

    Raises:
        UsageError: The config names several.
    """
    from proctor.engines.engine_registry import make_engine
    from proctor.engines.model_args import Origin

    if not _is_judged(tests.rows):
        return None
    if options.judge or not tests.judges:
        return judge_of(options.judge)
    if len(tests.judges) > 1:
        raise tests.config.refuse("the config names several judges", hint="--judge MODEL names one for all")
    found = provider_of(tests.config, tests.judges[0], "$.defaultTest.options.provider")
    return make_engine(found.model, found.arguments, Origin(author_of_file(tests.config.file), is_config=True))


def _is_judged(rows: Sequence[Row]) -> bool:
    return any(word in str(row[ASSERTED]) for row in rows for word in (*JUDGED, "grade:"))


def _parts(tests: Tests) -> RowParts:
    return RowParts(tuple(dict.fromkeys(_variables(tests.rows))))


def _honours(tests: Tests, options: ExamOptions) -> Honours:
    return {
        **declared("promptfoo"),
        **honours_of_changes(_parts(tests)),
        "reduce": reduces(options),
        "judge": Honoured("who judges, instead of whom the config names")
        if _is_judged(tests.rows)
        else no_effect(ASKS_NOBODY),
        "seed": no_effect("nothing is drawn"),
        "num_demos": no_effect("it shows none") if options.num_demos == 0 else Refused("it has no demos"),
    }


@dataclass(frozen=True)
class PromptAsker:
    """Puts tests in words.

    Attributes:
        prompt: The prompt.
        decoding: How the model writes; without a limit it is the engine's, where that was told one.
        system: A message that opens every chat; ``None`` for none.
        blank: Variables that stand in prompts of tests without them.
    """

    prompt: PromptText
    decoding: Decoding
    system: str | None
    blank: Mapping[str, str]

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests."""
        return frozenset({"generate"})

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return the function from a test to a question."""
        del opened
        render, decoding = self.prompt.compiled(), self.decoding
        if decoding.max_tokens is None and not context.limits:
            decoding = structs.replace(decoding, max_tokens=MAX_TOKENS)
        first: list[Message] = [{"role": "system", "content": self.system}] if self.system else []

        def ask(place: Ask, row: Row, demos: Demos) -> Question:
            del demos
            messages = [*first, *render({**self.blank, **row})]
            exchange = Exchange((Turn("user", (Span("\n".join(map(message_text, messages))),)),))
            return Question(place.listed, row, exchange, (Generate(Prompt(messages), decoding),))

        return ask
