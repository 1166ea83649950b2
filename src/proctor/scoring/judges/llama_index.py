"""LlamaIndex' evaluators as metrics: is an answer correct, and does it follow from its contexts?

Prompts, and how contexts are packed into them, are those of the package ``llama-index-core``
(``proctor[llama-index]``); the judge is any engine, asked as every judge is: together, and through the response log.
Source: Unitxt's metrics of these names.
"""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from typing_extensions import override

from proctor.artifacts import Artifact
from proctor.data.policy import classes_of
from proctor.errors import (
    Diagnostic,
    FieldTypeError,
    MissingExtraError,
    MissingFieldError,
    UsageError,
    ValidationError,
    did_you_mean,
)
from proctor.ir import Failure, Message
from proctor.scoring.instance_metric import BulkInstanceMetric, Computed, Unscored
from proctor.scoring.judges.judge_client import JudgePrompt, ask, check_engine, engine_name
from proctor.scoring.metric import failure_of, present
from proctor.scoring.scores import Unit
from proctor.settings import settings

if TYPE_CHECKING:
    from llama_index.core.evaluation import BaseEvaluator
    from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata


Q = TypeVar("Q")
A = TypeVar("A")
T = TypeVar("T")


class ConcurrentEvaluations(Generic[Q, A]):
    """Runs evaluations side by side, and asks their questions together.

    Args:
        ask: Answers the questions of a round, each; what it raises ends all evaluations.
    """

    def __init__(self, ask: Callable[[Sequence[Q]], Sequence[A]]) -> None:
        self._ask = ask
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._running = 0
        self._all_wait: asyncio.Event | None = None

    async def answer(self, question: Q) -> A:
        """Return the answer to a question of an evaluation that :meth:`run` runs."""
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((question, future))
        self._look()
        return await future

    def run(self, evaluations: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T | Exception]:
        """Return what each evaluation returns, or the exception that ended it."""
        loop = asyncio.new_event_loop()
        tasks = [loop.create_task(each()) for each in evaluations]
        self._running = len(tasks)
        for task in tasks:
            task.add_done_callback(self._done)
        try:
            while self._running:
                _turn(loop, self._until_all_wait())
                round_, self._waiting = self._waiting, []
                for (_, future), said in zip(round_, self._ask([each for each, _ in round_]), strict=True):
                    future.set_result(said)
        finally:
            for task in tasks:
                task.cancel()  # of those that are done nothing changes
            _turn(loop, asyncio.wait(tasks) if tasks else asyncio.sleep(0))
            loop.close()
        return [task.exception() or task.result() for task in tasks]  # type: ignore[misc]  # never BaseException alone

    async def _until_all_wait(self) -> None:
        self._all_wait = asyncio.Event()
        self._look()
        await self._all_wait.wait()

    def _done(self, task: asyncio.Task[Any]) -> None:
        del task
        self._running -= 1
        self._look()

    def _look(self) -> None:
        if self._all_wait is not None and len(self._waiting) == self._running:
            self._all_wait.set()


def _turn(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, Any]) -> None:
    """Run a loop until some work is done: in a thread where this one runs a loop of its own, as notebooks do."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        loop.run_until_complete(work)
        return
    with ThreadPoolExecutor(max_workers=1) as pool:
        pool.submit(loop.run_until_complete, work).result()


_MOCK = "mock"
_BEST = 5.0  # CorrectnessEvaluator asks for 1 to 5
_WINDOW = 16_384  # tokens that gpt-3.5-turbo reads
_TEMPERATURE = 0.1  # what LlamaIndex asks OpenAI for by default
_NUMBER = re.compile(r"\b\d+\.\d+\b|\b\d+\b")
_YES_OR_NO = re.compile("yes|no", re.IGNORECASE)

Evaluation = Callable[[], Coroutine[Any, Any, float]]


class _NoVerdictError(Exception):
    """An answer, or the lack of one, that is not a verdict.

    Args:
        failure: Why.
        said: What the judge said, if anything.
    """

    def __init__(self, failure: Failure, said: str | None = None) -> None:
        super().__init__(failure.message)
        self.failure = failure
        self.said = said


class _Asked(NamedTuple):
    """A question of an evaluation."""

    messages: Sequence[Message]
    classes: tuple[str, ...]


class LlamaIndexLLMMetric(BulkInstanceMetric):
    """Base of the metrics that LlamaIndex' evaluators compute.

    Attributes:
        model_name: A model of OpenAI's, which is asked where no engine is given; ``mock`` asks nobody, and finds
            everything right.
        inference_engine: What is asked.
        context_window: Tokens that the judge reads at once.
    """

    unit: ClassVar[Unit | None] = "share"
    main_score: str = ""
    prediction_type: object = str
    reduction_map: dict[str, Any] = {}
    ci_scores: list[str] | None = []
    model_name: str = ""
    inference_engine: Artifact | None = None
    context_window: int = _WINDOW
    data_classification_policy: list[str] | None = ["public"]

    def prepare(self) -> None:
        """Name the score after the judge."""
        super().prepare()
        judge = self.model_name or (engine_name(self.inference_engine) if self.inference_engine else "")
        self.main_score = f"llama_index_by_{re.sub('[^a-zA-Z0-9]', '_', judge)}_judge"
        self.reduction_map = {"mean": [self.main_score]}

    def verify(self) -> None:
        """Check that there is a judge."""
        super().verify()
        if self.inference_engine is not None:
            check_engine(self.inference_engine, self.name)
        elif not self.model_name:
            raise ValidationError(
                f"{self.name} has no judge",
                hint="model_name is a model of OpenAI's or mock; inference_engine is any engine",
            )

    def check(self) -> Iterator[Diagnostic]:
        """Yield that the package is not here."""
        if find_spec("llama_index") is None:
            yield from _no_package().diagnostics

    def compute(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[Computed]:
        """Return the score of each instance; a failure where the judge gave no verdict.

        Raises:
            MissingExtraError: The package is not here.
        """
        rounds: ConcurrentEvaluations[_Asked, str | Failure] = ConcurrentEvaluations(self._ask)
        owners: list[int] = []
        evaluations: list[Evaluation] = []
        found: list[Computed | None] = [None] * len(predictions)
        for number, (each, prediction, fields) in enumerate(zip(references, predictions, task_data, strict=True)):
            try:
                own = self.evaluations(each, prediction, fields, self._model(rounds, tuple(classes_of(fields))))
            except Exception as error:  # noqa: BLE001 - the reason becomes a value: this instance fails, the rest count
                found[number] = failure_of(error)
                continue
            evaluations += own
            owners += [number] * len(own)
        scores: list[list[float | Exception]] = [[] for _ in predictions]
        for number, score in zip(owners, rounds.run(evaluations), strict=True):
            scores[number].append(score)
        return [known or self._best(own) for known, own in zip(found, scores, strict=True)]

    def evaluations(
        self, references: list[Any], prediction: str, task_data: Mapping[str, Any], model: CustomLLM
    ) -> list[Evaluation]:
        """Return what is to be evaluated of an instance: coroutines that return scores, of which the best counts.

        Raises:
            MissingFieldError: The task data lacks a field.
        """
        raise NotImplementedError

    def _best(self, scores: Sequence[float | Exception]) -> Computed:
        for error in (each for each in scores if isinstance(each, Exception)):
            if not isinstance(error, _NoVerdictError):
                return failure_of(error)
            details = {} if error.said is None else {f"{self.main_score}_raw_output": error.said}
            return Unscored(error.failure, details)
        return {self.main_score: max(each for each in scores if not isinstance(each, Exception))}

    def _model(self, rounds: ConcurrentEvaluations[_Asked, str | Failure], classes: tuple[str, ...]) -> CustomLLM:
        if find_spec("llama_index") is None:
            raise _no_package()
        if self.model_name == _MOCK or settings.mock_inference_mode:
            return echo()

        async def answering(messages: Sequence[Message]) -> str:
            said = await rounds.answer(_Asked(messages, classes))
            if isinstance(said, Failure):
                raise _NoVerdictError(said)
            return said

        return asking_model(answering, self.model_name, self.context_window)

    def _ask(self, questions: Sequence[_Asked]) -> list[str | Failure]:
        if not questions:
            return []
        if self.inference_engine is None:
            self.inference_engine = self.fetched(
                {"__type__": "open_ai_inference_engine", "model_name": self.model_name, "temperature": _TEMPERATURE}
            )
        answers = ask(self.inference_engine, [JudgePrompt(each.messages, each.classes) for each in questions])
        return [each.prediction for each in answers]


class LlamaIndexCorrectness(LlamaIndexLLMMetric):
    """How correct a judge finds an answer (the prediction) to ``question``, given a reference: the best one, 0 to 1."""

    score_prefix: str = "correctness_"

    def evaluations(
        self, references: list[Any], prediction: str, task_data: Mapping[str, Any], model: CustomLLM
    ) -> list[Evaluation]:
        """Return an evaluation for each reference."""
        question = _field(task_data, "question", self.name)
        evaluator = correctness(model, _points)

        async def judged(reference: Any) -> float:
            result = await evaluator.aevaluate(query=question, response=prediction, reference=reference)
            return float(result.score) / _BEST

        return [partial(judged, reference) for reference in present(references)]


class LlamaIndexFaithfulness(LlamaIndexLLMMetric):
    """Whether a judge finds that an answer (the prediction) is supported by ``contexts``: 1 or 0."""

    score_prefix: str = "faithfulness_"

    def evaluations(
        self, references: list[Any], prediction: str, task_data: Mapping[str, Any], model: CustomLLM
    ) -> list[Evaluation]:
        """Return the evaluation."""
        contexts = _field(task_data, "contexts", self.name)
        if (
            not isinstance(contexts, (list, tuple))
            or not contexts
            or not all(isinstance(each, str) for each in contexts)
        ):
            raise FieldTypeError(f"{self.name} needs texts in 'contexts'", why=f"they are {contexts!r}"[:200])
        evaluator = faithfulness(model)

        async def judged() -> float:
            result = await evaluator.aevaluate(response=prediction, contexts=list(contexts))
            if not _YES_OR_NO.search(result.feedback):
                raise _unreadable(result.feedback, "neither yes nor no")
            return float(result.score)

        return [judged]


def _no_package() -> MissingExtraError:
    return MissingExtraError.of("llama-index-core", "llama-index", "a judge of LlamaIndex")


def _field(task_data: Mapping[str, Any], name: str, who: str) -> Any:
    if name not in task_data:
        raise MissingFieldError(f"{who} needs the field '{name}' of the task data", hint=did_you_mean(name, task_data))
    return task_data[name]


def _points(said: str) -> tuple[float, str]:
    """Return the first number of a judge's answer, and what follows its first line."""
    found = _NUMBER.search(said)
    if found is None or float(found[0]) > _BEST:
        raise _unreadable(said, "no number of points" if found is None else f"more than {_BEST:g} points")
    return float(found[0]), said.partition("\n")[2].lstrip("\n")


def _unreadable(said: str, why: str) -> _NoVerdictError:
    return _NoVerdictError(Failure("unreadable", f"the judge gave {why}: {said[:200]!r}", retryable=False), said)


# -- the package, imported when a function here is called ---------------------------------------------------------

Answering = Callable[[Sequence[Message]], Coroutine[Any, Any, str]]
"""Answers the messages of one question."""


def asking_model(answering: Answering, name: str, context_window: int) -> CustomLLM:
    """Return a chat model of LlamaIndex that hands messages on.

    Args:
        answering: What answers them.
        name: The model's name, by which evaluators may choose their prompt.
        context_window: Tokens that fit into one question; contexts that do not are asked about in several.
    """
    return _model_class()(answering, name, context_window)


@cache
def _model_class() -> Callable[[Answering, str, int], CustomLLM]:
    from llama_index.core.llms import ChatMessage, ChatResponse, CustomLLM, LLMMetadata, MessageRole

    class AskingModel(CustomLLM):  # type: ignore[misc]  # mypy does not follow optional packages
        def __init__(self, answering: Answering, name: str, context_window: int) -> None:
            super().__init__()
            self._answering = answering
            self._metadata = LLMMetadata(context_window=context_window, is_chat_model=True, model_name=name)

        @property
        def metadata(self) -> LLMMetadata:
            return self._metadata

        @override
        async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
            said = await self._answering(
                [{"role": each.role.value, "content": each.content or ""} for each in messages]
            )
            return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=said))

        @override
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            raise UsageError("a judge of LlamaIndex is asked by messages, in rounds")

        stream_complete = complete

    return AskingModel


def echo() -> CustomLLM:
    """Return the model that repeats its question, after a 5: whoever reads a number reads the best score."""
    from llama_index.core.llms import MockLLM

    return MockLLM(system_prompt="5")


def correctness(model: CustomLLM, parser: Callable[[str], tuple[float, str]]) -> BaseEvaluator:
    """Return LlamaIndex' evaluator of correctness, whose answers ``parser`` reads."""
    from llama_index.core.evaluation import CorrectnessEvaluator

    return CorrectnessEvaluator(llm=model, parser_function=parser)


def faithfulness(model: CustomLLM) -> BaseEvaluator:
    """Return LlamaIndex' evaluator of faithfulness."""
    from llama_index.core.evaluation import FaithfulnessEvaluator

    return FaithfulnessEvaluator(llm=model)
