"""Tasks that are Python classes of lm-eval's (``class: !function task.Name``), run for users who trust their code.

The class itself is lm-eval's: it needs that package. It builds its own requests and scores its own answers; asking,
keeping, resuming and reporting are as for any other exam.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from proctor.data import hub
from proctor.dialects.lm_eval.builder import decoding_of
from proctor.dialects.lm_eval.functions import TaskCodeError, guarded, resolve_function
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.dialects.lm_eval.scores import Measure, Values, add_scores, name_main_score
from proctor.errors import UsageError
from proctor.ir import (
    Choose,
    Exchange,
    Failure,
    Generate,
    Likelihood,
    Pair,
    Prompt,
    Request,
    Response,
    Rolling,
    Span,
    Turn,
)
from proctor.recipes.exam import Answered, Question
from proctor.scoring.aggregations import mean
from proctor.scoring.grade import Grade

if TYPE_CHECKING:
    from proctor.dialects.lm_eval.exam import TaskOptions
    from proctor.dialects.lm_eval.tree import Group, Leaf

_NEEDED = ("construct_requests", "process_results", "aggregation", "build_all_requests")


class PythonTaskExam:
    """A task of lm-eval's that is a Python class.

    Args:
        leaf: The task, whose ``class`` names it.
        options: What the run changes; templates and generation arguments are the class's own.

    Raises:
        TrustError: The user has not said that code of exams may run.
        TaskCodeError: The class cannot be loaded, or is no task.
    """

    def __init__(self, leaf: Leaf, options: TaskOptions) -> None:
        spec = leaf.values["class"]
        self.name = leaf.name
        self.groups: tuple[Group, ...] = ()
        self.options = options
        self._values = {key: value for key, value in leaf.values.items() if key != "class"}
        self._spec = spec
        self._kind = _class_of(spec, leaf)

    @property
    def description(self) -> str:
        """One line on what the exam is."""
        return f"the Python class {self._kind.__name__} of lm-eval's"

    @cached_property
    def task(self) -> Any:
        """The task, made when it is first needed: making it loads its data."""
        kind = _with_local_data(self._kind)
        make = guarded(kind, f"making the task '{self.name}' ({kind.__name__})", _place(self._spec))
        task = make(config=dict(self._values)) if _takes_config(kind) else make()
        config = task.config
        if hasattr(config, "task"):
            config.task = self.name
        asked = self.options.num_fewshot
        if asked is not None and config.num_fewshot != 0:
            task.set_config("num_fewshot", asked)
        if self.options.fewshot_seed is not None:
            task.set_fewshot_seed(self.options.fewshot_seed)
        return task

    @cached_property
    def _instances(self) -> dict[int, list[Any]]:
        """lm-eval's requests by document."""
        chat, samples = self.options.chat, self.options.samples
        build = guarded(self.task.build_all_requests, f"building the requests of '{self.name}'", _place(self._spec))
        build(
            limit=self._limit(),
            samples=None if samples is None else list(samples),
            system_instruction=self.options.system_instruction,
            apply_chat_template=chat is not None,
            fewshot_as_multiturn=chat is not None and chat.multiturn,
            chat_template=None if chat is None else _chat_template(chat.render),
        )
        ordered = sorted(self.task.instances, key=lambda each: (each.doc_id, each.idx))
        return {number: list(group) for number, group in groupby(ordered, key=lambda each: each.doc_id)}

    def _limit(self) -> int | None:
        limit = self.options.limit
        if limit is None or self.options.samples is not None:
            return None
        return math.ceil(len(list(self.task.eval_docs)) * limit) if limit < 1 else int(limit)

    def questions(self) -> Iterator[Question]:
        """Yield the items; a document's requests are asked in the order in which the class makes them."""
        for number, instances in self._instances.items():
            doc = instances[0].doc
            text = str(instances[0].arguments[0])
            exchange = Exchange((Turn("user", (Span(text),)),), answer=_target(self.task, doc))
            row = doc if isinstance(doc, Mapping) else {"doc": doc}
            yield Question(number, row, exchange, tuple(_requests(instances)))

    # -- scores -----------------------------------------------------------------------------------------------

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Let the class filter and score its answers."""
        answers = list(answered)
        failures: dict[int, Failure] = {}
        good: dict[int, list[Any]] = {}
        for place, each in enumerate(answers):
            failure = next((one.failure for one in each.responses if one.failure is not None), None)
            if failure is not None:
                failures[place] = failure
                continue
            good[place] = instances = self._instances[each.question.number]
            for instance, answer in zip(instances, _answers(each.responses), strict=True):
                instance.resps, instance.filtered_resps = [answer], {}
        scores, columns, broken = self._scored(good, len(answers), failures)
        name_main_score(scores)
        scores["num_of_instances"] = len(answers)
        raw = [None if place in failures else [one.resps[0] for one in good[place]] for place in range(len(answers))]
        predictions = [failures[place] if each is None else _only(each) for place, each in enumerate(raw)]
        return Grade(
            scores=scores,
            instance_scores=columns,
            predictions=predictions,
            processed_predictions=predictions,
            processed_references=[[each.question.exchange.answer] for each in answers],
            failures=failures,
            metric_failures=broken,
        )

    def _scored(
        self, good: Mapping[int, Sequence[Any]], count: int, failures: dict[int, Failure]
    ) -> tuple[dict[str, Any], dict[str, Sequence[Any]], dict[str, Failure]]:
        scores: dict[str, Any] = {}
        columns: dict[str, Sequence[Any]] = {}
        broken: dict[str, Failure] = {}
        task = self.task
        task._instances = [each for instances in good.values() for each in instances]  # noqa: SLF001 - filters read it
        if not good:
            return scores, columns, broken
        guarded(task.apply_filters, f"the filters of '{self.name}'")()
        measure = Measure({name: _aggregate(each) for name, each in task.aggregation().items()}, self.options.resamples)
        process = guarded(task.process_results, f"process_results of '{self.name}'")
        for pipeline in next(iter(good.values()))[0].filtered_resps:
            found: list[Values | None] = [None] * count
            for place, instances in good.items():
                results = [each.filtered_resps[pipeline] for each in instances]
                try:
                    found[place] = dict(process(instances[0].doc, results))
                except TaskCodeError as error:
                    failures.setdefault(place, Failure("scoring", str(error.diagnostics[0].why), retryable=False))
            broken.update(add_scores(scores, columns, pipeline, found, measure))
        return scores, columns, broken

    def specification(self) -> dict[str, Any]:
        """Return JSON-like data that describes the exam fully."""
        options = self.options
        return {
            "dialect": "lm_eval",
            "class": self._spec.name if isinstance(self._spec, FunctionReference) else self._kind.__qualname__,
            "task": {key: str(value) for key, value in self._values.items()},
            "options": {
                "num_fewshot": options.num_fewshot,
                "limit": options.limit,
                "samples": list(options.samples) if options.samples is not None else None,
                "fewshot_seed": options.fewshot_seed,
                "system_instruction": options.system_instruction,
                "chat": None if options.chat is None else {"multiturn": options.chat.multiturn},
            },
        }


# -- inside -----------------------------------------------------------------------------------------------------------


def _class_of(spec: Any, leaf: Leaf) -> type[Any]:
    kind = resolve_function(spec, f"the task '{leaf.name}'") if isinstance(spec, FunctionReference) else spec
    place = leaf.source.location("class") if leaf.source is not None else None
    if not isinstance(kind, type):
        raise UsageError(f"'class' of the task '{leaf.name}' is {spec}, no class", location=place)
    if missing := [name for name in _NEEDED if not callable(getattr(kind, name, None))]:
        raise UsageError(
            f"the class {kind.__name__} of the task '{leaf.name}' is no task of lm-eval",
            location=place,
            why=f"it has no {', '.join(missing)}",
            hint="derive it from lm_eval.api.task.ConfigurableTask or Task",
        )
    return kind


def _place(spec: Any) -> Any:
    return spec.location if isinstance(spec, FunctionReference) else None


def _takes_config(kind: type[Any]) -> bool:
    parameters = inspect.signature(kind.__init__).parameters
    return "config" in parameters or any(each.kind is each.VAR_KEYWORD for each in parameters.values())


def _with_local_data(kind: type[Any]) -> type[Any]:
    """Return the class, reading its dataset from the folder of datasets where that has it."""
    path = getattr(kind, "DATASET_PATH", None)
    folder = hub.local_folder(path) if isinstance(path, str) else None
    return kind if folder is None else type(kind.__name__, (kind,), {"DATASET_PATH": str(folder)})


def _chat_template(render: Callable[..., str] | None) -> Callable[..., Any]:
    def lay_out(messages: Sequence[Any], add_generation_prompt: bool = True) -> Any:
        return list(messages) if render is None else render(list(messages), add_generation_prompt)

    return lay_out


def _target(task: Any, doc: Any) -> str | None:
    try:
        return str(task.doc_to_target(doc))
    except (AttributeError, LookupError, NotImplementedError, TypeError, ValueError):
        return None  # the class scores without one


def _requests(instances: Sequence[Any]) -> Iterator[Request]:
    if len(instances) > 1 and all(each.request_type == "loglikelihood" for each in instances):
        yield Choose(tuple(Pair(Prompt(each.arguments[0]), each.arguments[1]) for each in instances))
        return
    for each in instances:
        kind, arguments = each.request_type, each.arguments
        if kind == "loglikelihood":
            yield Likelihood(Prompt(arguments[0]), arguments[1])
        elif kind == "loglikelihood_rolling":
            yield Rolling(arguments[0])
        elif kind == "generate_until":
            yield Generate(Prompt(arguments[0]), decoding_of(arguments[1]))
        else:
            raise UsageError(f"the task asks for '{kind}', which no engine answers")


def _answers(responses: Sequence[Response]) -> Iterator[Any]:
    """Yield what lm-eval's models would have answered, one for each of its requests."""
    for response in responses:
        if response.texts:
            yield response.texts[0]
        for score in response.scores:
            yield (score.log_likelihood, score.is_greedy)


def _only(answers: list[Any]) -> Any:
    return answers[0] if len(answers) == 1 else answers


def _aggregate(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an aggregation; means, whoever wrote them, have a standard error."""
    return mean if getattr(function, "__name__", "") == "mean" else guarded(function, "an aggregation")
