"""``simple_evaluate`` and ``evaluate``: lm-eval's functions, answered by this package's runs.

Results have lm-eval's form. Answers of named models are kept in the response log, as those of ``proctor run`` are;
those of a model that the program brings are kept only where ``use_cache`` names a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proctor.compat.lm_eval_names.models import engine_of
from proctor.compat.lm_eval_names.tasks import LOAD, TaskHandle, TaskManager, TaskTypeError, unknown_as_key_error
from proctor.compat.lm_eval_names.tracking import GeneralConfigTracker, teller
from proctor.dialects.lm_eval.classes.configurable_task import changed_class, plain_config
from proctor.dialects.lm_eval.classes.task import Task
from proctor.dialects.lm_eval.code_draws import DEFAULT_SEED, DEFAULT_SEEDS, NUMPY_SEED, PYTHON_SEED
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.exam import task_exam, task_of
from proctor.dialects.lm_eval.flags import parse_pairs
from proctor.dialects.lm_eval.generation import decoding_of
from proctor.dialects.lm_eval.groups import weighted
from proctor.dialects.lm_eval.python_task import object_exam
from proctor.dialects.lm_eval.resolve import exam_of
from proctor.dialects.lm_eval.results_file import TORCH_SEED, ModelDescription, results_document
from proctor.dialects.lm_eval.writer import samples, text_by
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.engine import Engine
from proctor.engines.model_args import parse_model_args
from proctor.errors import ProctorError, UsageError
from proctor.guests.lm_eval.foreign_model import ForeignModel
from proctor.guests.lm_eval.group import Group
from proctor.guests.names.lm_eval import LM_EVAL
from proctor.ir import Failure
from proctor.logs import get_logger
from proctor.recipes.exam import Answered, Exam
from proctor.recipes.option_values import parse_samples
from proctor.recipes.options import ExamOptions
from proctor.running.listening import listening
from proctor.running.log import ResponseLog
from proctor.running.log_place import placed
from proctor.running.plan import Filed, answered
from proctor.running.run import RunResult, run_exams
from proctor.scoring.aggregations import BOOTSTRAP_RESAMPLES
from proctor.secrets import without_secrets
from proctor.settings import settings

_IDLE = {
    "cache_requests": "requests are built faster than they are read back",
    "rewrite_requests_cache": "requests are built faster than they are read back",
    "delete_requests_cache": "there is no cache of requests",
    "check_integrity": "proctor validate reads every task",
    "verbosity": "PROCTOR_DEFAULT_VERBOSITY says how much is logged",
    "write_out": "proctor show prints requests",
    "confirm_run_unsafe_code": "PROCTOR_TRUST_CODE=1 lets code of tasks run; programs of models run in a prison",
}
"""Arguments that decide nothing here, and why."""

_MISSING = Failure("missing", "the response log holds no answer")


def simple_evaluate(  # noqa: PLR0917 - the order of lm-eval's own arguments
    model: Any,
    model_args: str | Mapping[str, Any] | None = None,
    tasks: Sequence[Any] | str | None = None,
    num_fewshot: int | None = None,
    batch_size: int | str | None = None,
    max_batch_size: int | None = None,
    device: str | None = None,
    use_cache: str | None = None,
    *,
    limit: float | None = None,
    samples: Mapping[str, Sequence[int]] | str | None = None,
    bootstrap_iters: int = BOOTSTRAP_RESAMPLES,
    log_samples: bool = True,
    system_instruction: str | None = None,
    apply_chat_template: bool | str = False,
    fewshot_as_multiturn: bool | None = None,
    gen_kwargs: str | Mapping[str, Any] | None = None,
    task_manager: TaskManager | None = None,
    predict_only: bool = False,
    random_seed: int | None = PYTHON_SEED,
    numpy_random_seed: int | None = NUMPY_SEED,
    fewshot_random_seed: int | None = DEFAULT_SEED,
    torch_random_seed: int | None = TORCH_SEED,
    metadata: Mapping[str, Any] | None = None,
    evaluation_tracker: Any = None,
    **idle: Any,
) -> dict[str, Any]:
    """Let a model sit tasks, and return the results in lm-eval's form.

    Args:
        model: A name, a model with lm-eval's interface (``LM``), or an engine.
        model_args: Arguments of a named model; of one that is made already they are filed among the results.
        tasks: Names, files, configurations of tasks, or objects of their classes; ``num_fewshot``, ``gen_kwargs`` and
            the seed of demos are set on objects, as lm-eval does.
        num_fewshot: Demos in each prompt; tasks that say 0 keep it.
        batch_size, max_batch_size, device: Of a named model.
        use_cache: A response log.
        limit: Most documents of each task, or a share of them.
        samples: Only these documents, by task.
        bootstrap_iters: Resamples behind standard errors of corpus metrics.
        log_samples: Whether the results have ``samples``; they always do where nothing is scored.
        system_instruction: Opens every prompt.
        apply_chat_template: Lay prompts out as chats; a text names one of the tokenizer's templates.
        fewshot_as_multiturn: With a chat template, whether demos are turns of their own.
        gen_kwargs: How to generate, in place of what tasks say.
        task_manager: Where tasks are looked for.
        predict_only: Record answers, score nothing.
        random_seed, numpy_random_seed: What code of tasks draws from while it makes documents; ``None`` draws from
            lm-eval's defaults, because no two runs would be alike.
        fewshot_random_seed: What demos are drawn from.
        torch_random_seed: Filed among the results; nothing is drawn from it, because sampled answers derive from their
            requests.
        metadata: More metadata for tasks whose code reads it, on top of the model's arguments; a task manager that is
            given has its own.
        evaluation_tracker: Is told who is asked and how; its ``save_results_aggregated`` writes files.
        idle: Arguments that decide nothing here; they are logged.

    Raises:
        UsageError: There is no such task or argument, or a model cannot do what is asked.
    """
    _say_idle(idle)
    _check_choice(limit, samples)
    tell = teller(evaluation_tracker)
    manager = task_manager or TaskManager(metadata=dict(metadata or {}))
    template = apply_chat_template if isinstance(model, str) else bool(apply_chat_template)
    given = model_args if isinstance(model, str) else None  # what a program has made has its own already
    named = (model, _with_template(given, template), {
        "batch_size": batch_size, "max_batch_size": max_batch_size, "device": device,
    })  # fmt: skip
    engine = _engine_of(*named)
    decoding = parse_pairs(gen_kwargs) if isinstance(gen_kwargs, str) else dict(gen_kwargs or {})
    options = ExamOptions(
        num_demos=num_fewshot,
        limit=limit,
        samples=parse_samples(samples) if isinstance(samples, str) else samples,
        seed=None if fewshot_random_seed == DEFAULT_SEED else fewshot_random_seed,
        code_seeds=_code_seeds(random_seed, numpy_random_seed, fewshot_random_seed),
        apply_chat_template=bool(apply_chat_template),
        demos_as_turns=fewshot_as_multiturn if apply_chat_template else None,
        system_prompt=system_instruction,
        decoding={_NAMES.get(name, name): value for name, value in decoding.items()},
        predict_only=predict_only,
        resamples=None if bootstrap_iters == BOOTSTRAP_RESAMPLES else bootstrap_iters,
        metadata=manager.metadata,
        model_arguments=_named_arguments(model_args) if task_manager is None else {},
        include_paths=manager.include_paths,
    )
    listed = [tasks] if isinstance(tasks, str | Mapping | Task) else list(tasks or ())
    own = type(manager).load is not LOAD  # a program's own way to load tasks is asked, as in lm-eval
    exams = _exams(list(_handles(manager.load(listed))) if own else [manager.handle(each) for each in listed], options)
    if engine is None:
        for each in exams:
            each.problems()  # reads their code
        engine = engine_of(*named)
    described = partial(
        _described, engine, model, model_args, log=use_cache and str(placed(use_cache)), told=task_manager is None
    )
    made = _results(engine, exams, use_cache, described, log_samples=log_samples or predict_only)
    made["config"] |= {
        "model_args": made["config"]["model_args"] if model_args is not None else None,
        "batch_size": batch_size,
        "device": device,
        "gen_kwargs": decoding or None,
        "limit": limit,
        "torch_seed": torch_random_seed,
    }
    own_template = getattr(engine.lm, "chat_template", None) if isinstance(engine, ForeignModel) else None
    tell(
        model_source=model if isinstance(model, str) else "CUSTOM",
        model_args=model_args or {"model": made["model_name"]},
        system_instruction=system_instruction,
        chat_template=own_template(apply_chat_template) if callable(own_template) else made["chat_template"],
        fewshot_as_multiturn=fewshot_as_multiturn is not False,
    )
    return {key: value for key, value in made.items() if key not in _OF_FILES}


def _engine_of(model: Any, model_args: Any, more: dict[str, Any]) -> Engine | None:
    """Return the engine; ``None`` where code of tasks that nobody has read yet may register it."""
    try:
        return engine_of(model, model_args, more)
    except ProctorError:
        if not (isinstance(model, str) and settings.trust_code):
            raise
        return None


_OF_FILES = frozenset((*(each.name for each in fields(GeneralConfigTracker)), "task_hashes", "start_time", "end_time"))
"""What files of results say, and results do not."""


def _check_choice(limit: float | None, samples: Any) -> None:
    """See that documents are chosen in one way."""
    if limit is not None and samples is not None:
        raise UsageError("limit and samples both choose documents", hint="give one of them, and None for the other")


def _named_arguments(model_args: Any) -> dict[str, Any]:
    """Return a model's arguments, which results and tasks may read: tasks of long texts count with its tokenizer."""
    return without_secrets(parse_model_args(model_args) if isinstance(model_args, str) else model_args or {})


def _code_seeds(python: int | None, numpy: int | None, fewshot: int | None) -> tuple[int, int] | None:
    """Return the seeds of code of tasks; ``None`` where all are lm-eval's own, and nothing is to be said of them."""
    given = (PYTHON_SEED if python is None else python, NUMPY_SEED if numpy is None else numpy)
    return None if given == DEFAULT_SEEDS and fewshot in (None, DEFAULT_SEED) else given


def aggregate_subtask_metrics(metrics: Sequence[float], sizes: Sequence[int], weight_by_size: bool = True) -> float:
    """Return the mean of tasks' scores, by their documents or plain."""
    return weighted(metrics, sizes if weight_by_size else [1] * len(sizes))


_NAMES = {"until": "stop", "max_gen_toks": "max_tokens", "max_new_tokens": "max_tokens"}


def evaluate(
    lm: Any,
    task_dict: Mapping[Any, Any],
    limit: float | None = None,
    samples: Mapping[str, Sequence[int]] | None = None,
    *,
    bootstrap_iters: int | None = BOOTSTRAP_RESAMPLES,
    log_samples: bool = True,
    system_instruction: str | None = None,
    apply_chat_template: bool | str = False,
    fewshot_as_multiturn: bool | None = False,
    **idle: Any,
) -> dict[str, Any]:
    """Let a model sit the tasks of :func:`get_task_dict`, and return the results in lm-eval's form.

    Args:
        lm: A model with lm-eval's interface, or an engine.
        task_dict: Tasks by name, groups of them as mappings.
        limit, samples, log_samples: As for :func:`simple_evaluate`.
        bootstrap_iters: As there; ``None`` and 0 give no standard errors.
        system_instruction, apply_chat_template, idle: As for :func:`simple_evaluate`.
        fewshot_as_multiturn: As there, but off where nothing is said, as in lm-eval.

    Raises:
        UsageError: A task is not one of ours.
    """
    _say_idle(idle)
    _check_choice(limit, samples)
    handles = list(_handles(task_dict))
    paths = tuple(dict.fromkeys(path for each in handles for path in each.include_paths))
    options = ExamOptions(
        limit=limit,
        samples=samples,
        apply_chat_template=bool(apply_chat_template),
        demos_as_turns=bool(fewshot_as_multiturn) if apply_chat_template else None,
        system_prompt=system_instruction,
        resamples=None if bootstrap_iters == BOOTSTRAP_RESAMPLES else bootstrap_iters or 0,
        metadata={key: value for each in handles for key, value in each.metadata.items()},
        include_paths=paths,
    )
    engine = engine_of(lm, None, {})
    described = partial(_described, engine, lm, None, log=None, told=False)
    made = _results(engine, _exams(handles, options), None, described, log_samples=log_samples)
    return {key: value for key, value in made.items() if key in _OF_EVALUATE}


_OF_EVALUATE = frozenset(
    ["results", "groups", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples", "samples"]
)
"""What results say before :func:`simple_evaluate` adds who was asked."""


def _handles(tasks: Mapping[Any, Any]) -> Iterable[TaskHandle]:
    if "tasks" in tasks and "group_map" in tasks:  # what TaskManager.load returns
        yield from _loaded(tasks)
        return
    for name, each in tasks.items():
        if isinstance(name, Group):
            yield _of_group(name, list(_tasks_in(each)))
        elif isinstance(each, Mapping):
            yield from _handles(each)
        elif isinstance(each, Task):
            handle = TaskManager().handle(each)
            yield handle if handle.name == name else TaskHandle(str(name), given=handle.task)
        else:
            raise UsageError(f"the task '{name}' is a {type(each).__name__}", hint="get_task_dict([names]) makes tasks")


def _loaded(loaded: Mapping[str, Any]) -> Iterable[TaskHandle]:
    """Yield the groups that are in no other, and the tasks that are in none."""
    inner = {name for members in loaded["group_map"].values() for name in members}
    yield from (_of_group(group) for name, group in loaded["groups"].items() if name not in inner)
    yield from (each for name, each in loaded["tasks"].items() if name not in inner)


def _of_group(group: Group, tasks: Sequence[TaskHandle] = ()) -> TaskHandle:
    """Return a group by its name, under which its scores are filed, too."""
    members = tasks or group.get_all_tasks()
    if changed := [each.name for each in members if each.changed is not None]:
        raise UsageError(
            f"the task '{changed[0]}' was changed, and is one of the group '{group.name}'",
            hint="evaluate tasks by themselves: evaluate(lm, {name: task})",
        )
    first = members[0] if members else TaskHandle(group.name)
    return replace(first, name=group.name, written=None, leaf=None)


def _tasks_in(nested: Mapping[Any, Any]) -> Iterable[TaskHandle]:
    for each in nested.values():
        yield from _tasks_in(each) if isinstance(each, Mapping) else (each,)


def _say_idle(idle: Mapping[str, Any]) -> None:
    """Log arguments that decide nothing."""
    if unknown := [name for name in idle if name not in _IDLE]:
        raise TaskTypeError(
            f"there is no argument '{unknown[0]}'",
            why=f"known are those of lm-eval, and {', '.join(_IDLE)}",
            hint=LM_EVAL.of_earlier(f"simple_evaluate({unknown[0]})"),
        )
    said = [f"{name} ({_IDLE[name]})" for name, value in idle.items() if value not in (None, False, 0, 1234)]
    if said:
        get_logger().warning("of no effect here: %s", "; ".join(said))


def _with_template(model_args: Any, template: bool | str) -> Any:
    if not isinstance(template, str):
        return model_args
    if isinstance(model_args, Mapping):
        return {**model_args, "chat_template": template}
    return ",".join(filter(None, [model_args, f'chat_template="{template}"']))


def _exams(handles: Sequence[TaskHandle], options: ExamOptions) -> list[Exam]:
    if not handles:
        raise UsageError("no task is named", hint='tasks=["arc_easy"]')
    found: dict[str, Exam] = {}
    named = [each.name for each in handles if all(said is None for said in _kept(each))]
    if named:
        with unknown_as_key_error():
            found = {exam.name: exam for exam in resolve_tasks(named, options)}
    made = ((each.name, made) for each in handles if (made := _made_exam(each, options)) is not None)
    for name, exam in made:
        if name in found:
            raise UsageError(f"Duplicate task '{name}'", why="its results would lie under one name", hint="rename one")
        found[name] = exam
    return list(found.values())


def _kept(handle: TaskHandle) -> tuple[Any, ...]:
    """Return what a task is besides its name."""
    return handle.changed, handle.written, handle.leaf


def _made_exam(handle: TaskHandle, options: ExamOptions) -> Exam | None:
    """Return the exam of a task that a program wrote out, made or changed; ``None`` of one that it names."""
    task = handle.task if handle.written is not None and changed_class() is not None else handle.changed
    if task is not None:
        if options.seed is None:
            options = replace(options, seed=task.fewshot_seed)
        if (config := plain_config(task)) is not None:
            return task_exam(handle.name, config, options)
        return object_exam(handle.name, task, options)
    if handle.written is None:
        return None if handle.leaf is None else exam_of(handle.leaf, options)
    return task_exam(handle.name, TaskConfig(**{**handle.written, "task": handle.name}), options)


def _results(
    engine: Engine,
    exams: Sequence[Exam],
    log: str | None,
    described: Callable[[RunResult], ModelDescription],
    *,
    log_samples: bool,
) -> dict[str, Any]:
    with ExitStack() as stack:
        place = None if log is None else placed(log)
        if isinstance(engine, ForeignModel) and log is None:
            place = Path(stack.enter_context(TemporaryDirectory(prefix="proctor-"))) / "responses.db"
        elif isinstance(engine, ForeignModel):
            engine.token = engine.name  # the user says that it is the model that the log knows
        keep_arguments(engine, exams)
        result = run_exams(exams, engine, log=place)
        _say_failures(result)
        made = results_document(exams, result.grades, described(result))
        if log_samples:
            made["samples"] = _samples(engine, exams, result, place)
    return made


def keep_arguments(engine: Engine, exams: Sequence[Exam]) -> None:
    """Let a model of a program's own see each task's arguments of generation as they are written.

    Raises:
        UsageError: One task says how long an answer may be what another leaves to the model.
    """
    if not isinstance(engine, ForeignModel):
        return
    for exam in exams:
        task = task_of(exam)
        if task is None or task.config.output_type != "generate_until":
            continue
        arguments = task.config.generation_kwargs or {}
        if not engine.keep_arguments(decoding_of(arguments), arguments):
            raise UsageError(
                f"of '{exam.name}' and a task before it, one leaves to the model how long answers are",
                why=f"generation_kwargs: {arguments}; they are told apart by nothing else",
                hint="evaluate them in two calls, or give gen_kwargs='max_gen_toks=…'",
            )


def _say_failures(result: RunResult) -> None:
    """Log what lm-eval's form of results has no place for."""
    for name, row in result.results.items():
        if kinds := row.get("failure_kinds"):
            get_logger().warning("%s: %s documents have no score: %s", name, row.get("failures"), kinds)
        for metric, why in dict(row.get("metric_failures") or {}).items():
            get_logger().warning("%s: %s has no value: %s", name, metric, why)


def _described(
    engine: Engine, model: Any, model_args: Any, result: RunResult, *, log: str | None, told: bool
) -> ModelDescription:
    started = str(result.run.get("started") or "")
    return ModelDescription(
        model if isinstance(model, str) else type(model).__name__,
        engine.label,
        _named_arguments(model_args),
        info=engine.facts(),
        seconds=float(result.run.get("seconds") or 0.0),
        started=datetime.fromisoformat(started).timestamp() if started else 0.0,
        log=log,
        told=told,
    )


def _samples(engine: Engine, exams: Sequence[Exam], result: RunResult, log: Path | str | None) -> dict[str, list[Any]]:
    with ResponseLog(log) as opened:
        number = opened.engine_number(engine.identity, engine.label, without_secrets(engine.identity_values()))
        filed = Filed(opened, number, with_failures=True)

        def answers(exam: Exam) -> Iterable[Answered]:
            return answered(exam.questions(), filed.heard_by(listening(engine, exam)), _MISSING)

        graded = [exam for exam in exams if exam.name in result.grades]
        text_of = text_by(engine)
        return {
            each.name: list(samples(each, partial(answers, each), result.grades[each.name], text_of)) for each in graded
        }
