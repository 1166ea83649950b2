"""Tasks that are Python classes of lm-eval's (``class: !function task.Name``), run for users who trust their code.

The class itself is lm-eval's: it needs that package. It builds its own requests and scores its own answers; asking,
keeping, resuming and reporting are as for any other exam.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from proctor.data import hub
from proctor.data.streams import MultiStream
from proctor.dialects.lm_eval.chat import chat_options
from proctor.dialects.lm_eval.class_grader import ClassGrader, raw_target
from proctor.dialects.lm_eval.class_requests import KINDS, requests_of
from proctor.dialects.lm_eval.classes.configurable_task import ConfigurableTask
from proctor.dialects.lm_eval.code_draws import DEFAULT_SEED
from proctor.dialects.lm_eval.definition import definition_of_class
from proctor.dialects.lm_eval.functions import guarded, load_code, resolve_function
from proctor.dialects.lm_eval.generation import generation_arguments
from proctor.dialects.lm_eval.honours import class_honours
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import UsageError
from proctor.ir import Exchange, Span, Turn
from proctor.ir.question import Ask, Question
from proctor.recipes.exam import Exam
from proctor.recipes.exam_parts import Context, Demos, Kind
from proctor.recipes.options import ExamOptions
from proctor.recipes.repeats import repeated
from proctor.recipes.selection import Opened, Selection

if TYPE_CHECKING:
    from proctor.dialects.lm_eval.tree import Leaf

_NEEDED = ("construct_requests", "process_results", "aggregation", "build_all_requests")


@dataclass(frozen=True)
class PythonTask:
    """A task of lm-eval's that is a Python class: ``Exam.own`` of its exam.

    The class selects its documents, draws its demos, and makes its requests all at once; so none of it is flat.

    Attributes:
        name: The name under which results are filed.
        kind: The class.
        spec: What the task file says of it.
        values: Its other keys.
        options: What the run changes.
        given: The task, where a program has made it.
    """

    name: str
    kind: type[Any]
    spec: Any
    values: Mapping[str, Any]
    options: ExamOptions
    given: Any = None

    @cached_property
    def task(self) -> Any:
        """The task, made when it is first needed: making it loads its data."""
        task = self._made() if self.given is None else self.given
        asked = self.options.num_demos
        if asked is not None and task.config.num_fewshot != 0:
            task.set_config("num_fewshot", asked)
        if self.options.decoding:
            task.set_config("generation_kwargs", generation_arguments(self.options.decoding), update=True)
        task.set_fewshot_seed(DEFAULT_SEED if self.options.seed is None else self.options.seed)
        return task

    def _made(self) -> Any:
        kind = _with_local_data(self.kind)
        load_code(self.values)
        make = guarded(kind, f"making the task '{self.name}' ({kind.__name__})", _place(self.spec))
        task = make(config=dict(self.values)) if _takes_config(kind) else make()
        if hasattr(task.config, "task"):
            task.config.task = self.name
        return task

    @property
    def pipelines(self) -> list[str]:
        """The names of its filter pipelines."""
        return [str(each.name) for each in self.task._filters]  # noqa: SLF001 - tasks tell them in no other way

    def number(self, place: int) -> int:
        """Return the number of a document among all; of chosen ones the class counts anew."""
        places = self.options.places_of(self.name)
        return place if places is None else sorted(places)[place]

    @property
    def version(self) -> Any:
        """Its version: of its metadata, else of its class."""
        metadata = getattr(self.task.config, "metadata", None)
        named = metadata.get("version") if isinstance(metadata, Mapping) else None
        return self.task.VERSION if named is None else named

    @cached_property
    def instances(self) -> dict[int, list[Any]]:
        """lm-eval's requests by document."""
        chat, places = chat_options(self.options), self.options.places_of(self.name)
        build = guarded(self.task.build_all_requests, f"building the requests of '{self.name}'", _place(self.spec))
        build(
            limit=self._limit(places),
            samples=None if places is None else sorted(places),
            system_instruction=self.options.system_prompt,
            apply_chat_template=chat is not None,
            fewshot_as_multiturn=chat is not None and chat.multiturn,
            chat_template=None if chat is None else _chat_template(chat.render),
        )
        ordered = sorted(self.task.instances, key=lambda each: (each.doc_id, each.idx))
        return {number: list(group) for number, group in groupby(ordered, key=lambda each: each.doc_id)}

    @cached_property
    def lays_out_chats(self) -> bool:
        """Whether contexts are texts that a chat template made."""
        chat = chat_options(self.options)
        return chat is not None and chat.render is not None

    def _limit(self, places: frozenset[int] | None) -> int | None:
        limit = self.options.limit
        if limit is None or places is not None:
            return None
        return math.ceil(len(list(self.task.eval_docs)) * limit) if limit < 1 else int(limit)


def class_exam(leaf: Leaf, options: ExamOptions) -> Exam:
    """Return the exam of a task that is a Python class.

    Raises:
        TrustError: The user has not said that code of exams may run.
        TaskCodeError: The class cannot be loaded.
        UsageError: It is not a task.
    """
    spec = leaf.values["class"]
    values = {key: value for key, value in leaf.values.items() if key != "class"}
    return _exam(PythonTask(leaf.name, _class_of(spec, leaf), spec, values, options))


def object_exam(name: str, task: Any, options: ExamOptions) -> Exam:
    """Return the exam of a task that a program has made.

    Raises:
        UsageError: It is not a task.
    """
    _check_task(type(task), name)
    return _exam(PythonTask(name, type(task), type(task).__qualname__, task.config.to_dict(), options, task))


def python_task_of(exam: Exam) -> PythonTask | None:
    """Return the class task behind an exam; ``None`` where it comes from something else."""
    return exam.own if isinstance(exam.own, PythonTask) else None


def _exam(task: PythonTask) -> Exam:
    options = task.options
    exam = Exam(
        name=task.name,
        description=f"the Python class {task.kind.__name__} of lm-eval's",
        dialect="lm_eval",
        source=_specification(task),
        rows=ClassRows(task),
        asker=ClassAsker(task),
        grader=ClassGrader(task),
        options=options,
        honours=class_honours(options, asks_as_told=_asks_as_told(task.kind)),
        own=task,
        define=lambda: definition_of_class(task.kind, task.values),
    )
    return repeated(exam, is_known_to_write=True)


class ClassRows:
    """The documents that the class asks about, each with its requests.

    Args:
        task: The task.
    """

    def __init__(self, task: PythonTask) -> None:
        self._task = task

    def open(self, selection: Selection) -> Opened:
        """Return the documents; the class has selected them."""
        del selection
        found = [
            {"number": number, "instances": each, "input_fields": dict(_row(each[0].doc))}  # what the row holds
            for number, each in self._task.instances.items()
        ]
        return Opened(found, lambda: len(found), is_selected=True)

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the documents that the class gives."""
        docs = [dict(_row(doc)) for doc in self._task.task.eval_docs]
        yield "the class loads its documents", MultiStream.from_iterables({"test": docs})


class ClassAsker:
    """Makes questions of the requests of the class, in the order in which it makes them.

    Args:
        task: The task.
    """

    def __init__(self, task: PythonTask) -> None:
        self._task = task

    @property
    def kinds(self) -> frozenset[Kind]:
        """What is asked of a model; the requests have to be built for it."""
        each = (request for some in self._task.instances.values() for request in some)
        return frozenset(KINDS[kind] for request in each if (kind := request.request_type) in KINDS)

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Mapping[str, Any], Demos], Question]:
        """Return a function from a document with its requests to a question."""
        del opened, context
        return self._question

    def _question(self, ask: Ask, row: Mapping[str, Any], demos: Demos) -> Question:
        del ask, demos
        instances = row["instances"]
        doc, text = instances[0].doc, str(instances[0].arguments[0])
        exchange = Exchange((Turn("user", (Span(text),)),), answer=_target(self._task.task, doc))
        is_laid_out = self._task.lays_out_chats
        requests = tuple(requests_of(instances, is_laid_out=is_laid_out))
        return Question(row["number"], _row(doc), exchange, requests)


# -- inside -----------------------------------------------------------------------------------------------------------


def _specification(task: PythonTask) -> Mapping[str, Any]:
    """Return JSON-like data that describes the exam fully."""
    options, places = task.options, task.options.places_of(task.name)
    is_chat = options.apply_chat_template or options.meta_template is not None
    return {
        "dialect": "lm_eval",
        "class": task.spec.name if isinstance(task.spec, FunctionReference) else task.kind.__qualname__,
        "task": {key: str(value) for key, value in task.values.items()},
        "options": {
            "num_fewshot": options.num_demos,
            "limit": options.limit,
            "samples": None if places is None else sorted(places),
            "fewshot_seed": DEFAULT_SEED if options.seed is None else options.seed,
            "system_instruction": options.system_prompt,
            "chat": {"multiturn": options.demos_as_turns is not False} if is_chat else None,
        },
    }


def _row(doc: Any) -> Mapping[str, Any]:
    return doc if isinstance(doc, Mapping) else {"doc": doc}


def _class_of(spec: Any, leaf: Leaf) -> type[Any]:
    kind = resolve_function(spec, f"the task '{leaf.name}'") if isinstance(spec, FunctionReference) else spec
    place = leaf.source.location("class") if leaf.source is not None else None
    if not isinstance(kind, type):
        raise UsageError(f"'class' of the task '{leaf.name}' is {spec}, not a class", location=place)
    _check_task(kind, leaf.name, place)
    return kind


def _check_task(kind: type[Any], name: str, place: Any = None) -> None:
    if missing := [each for each in _NEEDED if not callable(getattr(kind, each, None))]:
        raise UsageError(
            f"the class {kind.__name__} of the task '{name}' is not a task of lm-eval",
            location=place,
            why=f"it has no {', '.join(missing)}",
            hint="derive it from lm_eval.api.task.ConfigurableTask or Task",
        )


def _asks_as_told(kind: type[Any]) -> bool:
    """Whether requests are made of the key ``generation_kwargs``, which a run may change."""
    return getattr(kind, "construct_requests", None) is ConfigurableTask.construct_requests


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
    found = raw_target(task, doc)
    return None if found is None else str(found)
