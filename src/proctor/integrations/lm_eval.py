"""Exams inside lm-evaluation-harness: its models and its command line, our prompts and scores.

A task file of three lines names an exam of any dialect::

    task: my_exam
    class: !function proctor.integrations.lm_eval.ProctorTask
    recipe: card=cards.wnli,template=templates.classification.multi_class.relation.default

``num_fewshot`` and everything else about the prompts is the exam's own. The score that lm-eval reports is the exam's
main score over all documents that lm-eval asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

try:
    from lm_eval.api.instance import Instance
    from lm_eval.api.task import Task
    from lm_eval.config.task import TaskConfig
    from lm_eval.filters import build_filter_ensemble
except ImportError:
    from proctor.errors import MissingExtraError

    raise MissingExtraError.of("lm-eval", "lm-eval", "running exams inside lm-eval") from None

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.thoughts import heard, marks_of
from proctor.errors import UsageError
from proctor.ir import THINKING, Choose, Generate, Likelihood, Message, Prompt, Request, Response, Rolling, Scored
from proctor.logs import get_logger
from proctor.recipes.exam import Answered, Exam, Question
from proctor.recipes.options import ExamOptions

DEFAULT_MAX_TOKENS = 256  # what lm-eval's models write at most where a task does not say


class ProctorTask(Task):  # type: ignore[misc]
    """One exam as a task of lm-eval.

    Args:
        config: The keys of the task file: ``recipe`` (any name that ``proctor run --tasks`` takes), ``task``,
            ``limit`` and ``metadata``.

    Raises:
        UsageError: ``recipe`` is missing, or means several exams.
    """

    VERSION = 1

    def __init__(self, config: Mapping[str, Any] | None = None) -> None:
        given = dict(config or {})
        self._exam = _exam_of(given)
        self._items = _usable(self._exam)
        request = self._items[0].requests[0] if self._items else None
        self.OUTPUT_TYPE = "multiple_choice" if isinstance(request, Choose) else _kind(request)
        self._config = TaskConfig(
            task=given.get("task") or self._exam.name,
            output_type=self.OUTPUT_TYPE,
            generation_kwargs=_arguments(request) if isinstance(request, Generate) else None,
            num_fewshot=0,
            metadata={"version": self.VERSION, **(given.get("metadata") or {}), "recipe": given["recipe"]},
        )
        self._filters = [build_filter_ensemble("none", [["take_first", None]])]
        self._instances = None
        self.fewshot_rnd = None

    # -- documents --------------------------------------------------------------------------------------------

    def has_training_docs(self) -> bool:
        """Return that there are none: demos are part of the exam's prompts."""
        return False

    def has_validation_docs(self) -> bool:
        """Return that there are none."""
        return False

    def has_test_docs(self) -> bool:
        """Return that there are."""
        return True

    def test_docs(self) -> list[dict[str, Any]]:
        """Return a document for each item: its position, its question and its references."""
        return [
            {"position": position, "question": item.exchange.source, "references": list(item.exchange.references)}
            for position, item in enumerate(self._items)
        ]

    def doc_to_text(self, doc: Mapping[str, Any]) -> str:
        """Return the question."""
        return str(doc["question"])

    def doc_to_target(self, doc: Mapping[str, Any]) -> str:
        """Return one reference."""
        return str(doc["references"][0]) if doc["references"] else ""

    # -- requests ---------------------------------------------------------------------------------------------

    def fewshot_context(self, doc: Mapping[str, Any], *args: Any, **kwargs: Any) -> str:
        """Return the exam's own prompt; chat messages go through lm-eval's chat template.

        Raises:
            UsageError: The exam asks in chat messages and lm-eval applies no chat template.
        """
        del args
        prompt = _prompt_of(self._item(doc).requests[0])
        if prompt is None or isinstance(prompt.payload, str):
            return "" if prompt is None else prompt.text
        template: Callable[[list[Message]], str] | None = kwargs.get("chat_template")
        if not kwargs.get("apply_chat_template") or template is None:
            raise UsageError(
                f"the exam '{self._exam.name}' asks in chat messages", hint="run lm_eval with --apply_chat_template"
            )
        return template(list(prompt.messages))

    def construct_requests(self, doc: Mapping[str, Any], ctx: str, **kwargs: Any) -> list[Any]:
        """Return lm-eval's requests for an item."""
        for own in ("apply_chat_template", "chat_template"):
            kwargs.pop(own, None)
        request = self._item(doc).requests[0]
        calls: list[tuple[str, tuple[Any, ...]]]
        if isinstance(request, Generate):
            calls = [("generate_until", (ctx, _arguments(request)))]
        elif isinstance(request, Rolling):
            calls = [("loglikelihood_rolling", (request.text,))]
        elif isinstance(request, Choose | Likelihood):
            calls = [("loglikelihood", (pair.context.text, pair.continuation)) for pair in request.pairs]
        else:
            raise UsageError(f"the exam '{self._exam.name}' holds conversations, which lm-eval cannot")
        return [
            Instance(request_type=kind, doc=doc, arguments=arguments, idx=number, **kwargs)
            for number, (kind, arguments) in enumerate(calls)
        ]

    # -- scores -----------------------------------------------------------------------------------------------

    def process_results(self, doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
        """Return the answer, for :meth:`aggregation` to score with all others."""
        return {"score": (doc["position"], list(results))}

    def aggregation(self) -> dict[str, Callable[[Sequence[Any]], float]]:
        """Return the aggregation to the exam's main score."""
        return {"score": self._score}

    def higher_is_better(self) -> dict[str, bool]:
        """Return that more is better."""
        return {"score": True}

    def _score(self, values: Sequence[tuple[int, Sequence[Any]]]) -> float:
        answered = [Answered(self._items[place], (heard(_response(results), marks_of()),)) for place, results in values]
        if lost := sum(each.failure is not None and each.failure.kind == THINKING for each in answered):
            message = "%s: %d of %d answers are thoughts without an answer, and are in no score: allow more tokens"
            get_logger().warning(message, self._exam.name, lost, len(answered))
        return float(self._exam.grade(answered).scores["score"])

    def _item(self, doc: Mapping[str, Any]) -> Question:
        return self._items[int(doc["position"])]


def _exam_of(given: Mapping[str, Any]) -> Exam:
    recipe = given.get("recipe")
    if not isinstance(recipe, str):
        raise UsageError("the task names no recipe", hint="recipe: card=…,template=…, or any name of proctor ls")
    exams = resolve_tasks([recipe], ExamOptions(limit=given.get("limit")))
    if len(exams) != 1:
        raise UsageError(f"'{recipe}' is {len(exams)} exams", hint="write a task file for each of them")
    return exams[0]


def _usable(exam: Exam) -> list[Question]:
    """Return the questions that lm-eval can be given: without those whose rows cannot be used, which are said."""
    questions = list(exam.questions())
    lost = [question.failure for question in questions if question.failure is not None]
    if lost:
        message = "%s: %d of %d rows cannot be used and are left out; the first: %s"
        get_logger().warning(message, exam.name, len(lost), len(questions), lost[0].message)
    return [question for question in questions if question.failure is None]


def _kind(request: Request | None) -> str:
    if isinstance(request, Likelihood):
        return "loglikelihood"
    return "loglikelihood_rolling" if isinstance(request, Rolling) else "generate_until"


def _prompt_of(request: Request) -> Prompt | None:
    if isinstance(request, Generate):
        return request.prompt
    return request.pairs[0].context if isinstance(request, Choose | Likelihood) else None


def _arguments(request: Generate) -> dict[str, Any]:
    decoding = request.decoding
    given: dict[str, Any] = {
        "until": list(decoding.stop),
        "max_gen_toks": decoding.max_tokens or DEFAULT_MAX_TOKENS,
        "temperature": decoding.temperature,
        "do_sample": decoding.temperature > 0,
        **decoding.extra,
    }
    return {**given, **{name: value for name in ("top_p", "top_k") if (value := getattr(decoding, name)) is not None}}


def _response(results: Sequence[Any]) -> Response:
    if results and isinstance(results[0], str):
        return Response(texts=tuple(results))
    pairs = [each if isinstance(each, tuple | list) else (each, False) for each in results]
    return Response(scores=tuple(Scored(float(likelihood), bool(greedy)) for likelihood, greedy in pairs))
