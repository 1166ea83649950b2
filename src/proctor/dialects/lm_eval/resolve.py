"""From what a user types to exams: the door of this dialect."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.config import FewshotConfig
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.fields import value_of
from proctor.dialects.lm_eval.generation import DEFAULT_MAX_TOKENS
from proctor.dialects.lm_eval.python_task import class_exam
from proctor.dialects.lm_eval.samplers import lays_out_demos
from proctor.dialects.lm_eval.selection import TaskFinder, UnreadableTaskError
from proctor.dialects.lm_eval.tree import Group, Leaf, Member
from proctor.effects import author, author_of_file, written_by
from proctor.errors import ProctorError, UnknownArtifactError, UsageError, ValidationError
from proctor.logs import get_logger
from proctor.recipes.exam import Exam, add_groups
from proctor.recipes.one_name import file_exam
from proctor.recipes.options import ExamOptions
from proctor.settings import settings


def resolve(names: Sequence[str], include_paths: Iterable[str] = (), options: ExamOptions | None = None) -> list[Exam]:
    """Return the exams that names, globs, tags, groups, files and folders mean, each once.

    Raises:
        UnknownArtifactError: A name means nothing.
        ValidationError: A task file has problems; all of them at once.
    """
    chosen = options or ExamOptions()
    if include_paths:
        chosen = replace(chosen, include_paths=(*chosen.include_paths, *map(str, include_paths)))
    finder = _finder(chosen)
    exams: dict[str, Exam] = {}
    problems: list[ProctorError] = []
    for name in names:
        try:
            for exam in exams_of_members(finder.find(name), chosen):
                file_exam(exams, exam, exam.groups, name)
        except ProctorError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise UsageError([each for problem in problems for each in problem.diagnostics])
    return list(exams.values())


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exams that one name means, ``None`` where this dialect does not know it.

    Raises:
        ProctorError: It is known, and cannot be built.
    """
    finder = _finder(options)
    if not _may_know(name, finder):
        return None
    try:
        return exams_of_members(finder.find(name), options)
    except UnreadableTaskError:
        raise
    except UnknownArtifactError as error:
        if error.diagnostics[0].location is not None:  # the file was read, and something in it means nothing
            raise
        base = name.partition("::")[0]
        if "::" in name and (finder.entry(base) is not None or _is_task_file(base)):
            raise
        if "@" in name and finder.entry(name.rpartition("@")[0]) is not None:
            raise
        return None


def _is_task_file(path: str) -> bool:
    """Whether a file could hold tasks: other dialects have files of their own."""
    return Path(path).suffix not in (".py", ".json", ".jsonl", ".csv") and Path(path).is_file()


def _may_know(name: str, finder: TaskFinder) -> bool:
    if "=" in name:
        return False
    return bool(finder.index.entries or finder.index.problems) or ".yaml" in name or ".yml" in name or "/" in name


def _finder(options: ExamOptions) -> TaskFinder:
    return TaskFinder(
        options.include_paths,
        template=options.template,
        metadata=dict(options.metadata) or None,
        arguments=options.model_arguments,
    )


def exams_of_members(members: Sequence[Member], options: ExamOptions) -> list[Exam]:
    """Return the exams of tasks and groups; each knows the groups that it belongs to."""
    exams: dict[str, Exam] = {}
    problems: list[ProctorError] = []
    for member in members:
        for leaf, groups in _with_groups(member, ()):
            try:
                exam = exam_of(leaf, options)
            except ProctorError as error:
                problems.append(error)
                continue
            known = exams.setdefault(exam.name, exam)
            if known is not exam and known.specification() != exam.specification():
                _say_replaced(groups, leaf)
                known = replace(exam, groups=known.groups)
            exams[exam.name] = add_groups(known, groups)
    if problems:
        first = problems[0]
        raise first if len(problems) == 1 else type(first)([each for one in problems for each in one.diagnostics])
    return list(exams.values())


def _say_replaced(groups: Sequence[Group], leaf: Leaf) -> None:
    """Log that a suite has two tasks of one name: the later one counts, as in lm-eval, where nothing says so."""
    path = " → ".join((*(group.name for group in groups), leaf.name))
    get_logger().warning(
        "%s: an earlier member is a different exam of the same name, and is not asked; rename one of them", path
    )


@cache
def _say_disputed(path: str, keys: frozenset[str]) -> None:
    """Log that releases of lm-eval read a file in different ways."""
    get_logger().warning(
        "%s: the files that it includes say different things of %s; the last one counts, as since lm-eval 0.4.12: "
        "before, the first did. Say in the file itself what is meant",
        path,
        ", ".join(sorted(keys)),
    )


def _with_groups(member: Member, above: tuple[Group, ...]) -> Iterable[tuple[Leaf, tuple[Group, ...]]]:
    if isinstance(member, Leaf):
        yield member, above
        return
    for each in member.members:
        yield from _with_groups(each, (*above, member))


def exam_of(leaf: Leaf, options: ExamOptions) -> Exam:
    """Return the exam of a task: of a Unitxt recipe where the task names one.

    Raises:
        ValidationError: With every problem of the file.
        TrustError: The task is a Python class, and its code is not trusted.
    """
    if leaf.source is not None and leaf.source.disputed:
        _say_disputed(leaf.source.path, leaf.source.disputed)
    if isinstance(recipe := leaf.values.get("recipe"), str):
        options = replace(options, template=leaf.template)
        with written_by(author_of_file(leaf.source.path) if leaf.source else author()):
            return _recipe_exam(leaf.name, recipe, options, is_ours=_OUR_TASK in str(leaf.values.get("class")))
    if "class" not in leaf.values and (kind := _changed_class() or _class_for_sampler(leaf)) is not None:
        leaf = replace(leaf, values={**leaf.values, "class": kind})
    if "class" in leaf.values:
        if leaf.template is not None:
            raise UsageError(
                f"the task '{leaf.name}' is a Python class, which has no templates", hint="leave the template out"
            )
        return class_exam(_with_keys(leaf, options.keys), options)
    has_override = isinstance(leaf.values.get("chat_override"), Mapping)
    leaf = _with_keys(_with_chat_override(leaf, options), options.keys)
    return task_exam(leaf.name, leaf.config(), options, has_chat_override=has_override)


def _changed_class() -> type | None:
    """Return the class of tasks of files, where a program has put something upon it."""
    classes = sys.modules.get(f"{__package__}.classes.configurable_task")
    return None if classes is None else classes.changed_class()


def _class_for_sampler(leaf: Leaf) -> type | None:
    """Return the class of tasks of files, where a sampler of the task's own wants the task itself.

    Raises:
        ValidationError: ``fewshot_config`` has keys that the sampler cannot read.
    """
    fewshot = leaf.values.get("fewshot_config")
    if not isinstance(fewshot, Mapping) or isinstance(fewshot.get("sampler"), str | None) or not settings.trust_code:
        return None
    kind = value_of(fewshot["sampler"], "fewshot_config.sampler")
    if lays_out_demos(kind):
        from proctor.dialects.lm_eval.classes.configurable_task import ConfigurableTask

        return ConfigurableTask
    if unread := fewshot.keys() - {each.name for each in fields(FewshotConfig)}:
        raise ValidationError(
            f"there is no key '{min(unread)}' of fewshot_config",
            location=leaf.source.location("fewshot_config") if leaf.source else None,
            why=f"a sampler of lm-eval today, as {getattr(kind, '__name__', kind)} is, is given documents alone",
        )
    return None


_OUR_TASK = "proctor.integrations.lm_eval.ProctorTask"


def _recipe_exam(name: str, recipe: str, options: ExamOptions, *, is_ours: bool) -> Exam:
    """Return the exam of a recipe; like lm-eval, an answer ends with its line, unless the task is one of ours."""
    from proctor.artifacts import fetch_artifact
    from proctor.dialects.unitxt.resolve import exam_of as recipe_exam
    from proctor.recipes.recipe import DatasetRecipe

    fetched = fetch_artifact(recipe)
    if not isinstance(fetched, DatasetRecipe):
        raise UsageError(f"the recipe of '{name}' is a {type(fetched).__name__}", hint="recipe: card=…,template=…")
    decoding = options.decoding
    if not is_ours:
        decoding = {"stop": ("\n",), "max_tokens": DEFAULT_MAX_TOKENS, **decoding}
    return recipe_exam(name, fetched, replace(options, decoding=decoding))


def _with_keys(leaf: Leaf, keys: Mapping[str, Any]) -> Leaf:
    """Return a task with some of its keys replaced; mappings are merged."""
    merged = {
        key: {**leaf.values[key], **value}
        if isinstance(value, Mapping) and isinstance(leaf.values.get(key), Mapping)
        else value
        for key, value in keys.items()
    }
    return replace(leaf, values={**leaf.values, **merged}) if merged else leaf


def _with_chat_override(leaf: Leaf, options: ExamOptions) -> Leaf:
    wanted = options.apply_chat_template if options.chat_override is None else options.chat_override
    override = leaf.values.get("chat_override")
    if not wanted or not isinstance(override, Mapping):
        return leaf
    return replace(leaf, values={**leaf.values, **override, "chat_override": None})
