"""From what a user types to exams: catalog names, recipe strings, files, and the names of other dialects.

Each dialect answers for the names it knows. The catalog is asked first, so a bare exact name always wins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from proctor.artifacts import catalogs, fetch_artifact
from proctor.artifacts.catalogs import missing_catalogs
from proctor.artifacts.query import is_assignments, parse_query
from proctor.errors import Diagnostic, ProctorError, QueryError, UnknownArtifactError, UsageError, did_you_mean
from proctor.recipes.exam import Exam, add_groups
from proctor.recipes.options import ExamOptions
from proctor.recipes.recipe import Recipe
from proctor.recipes.recipe_exam import exams_of

Resolver = Callable[[str, ExamOptions], "list[Exam] | None"]
"""Returns the exams that a name means in one dialect, or ``None`` where the dialect does not know it."""


def resolve_tasks(names: Sequence[str], options: ExamOptions | None = None) -> list[Exam]:
    """Return the exams that names mean, in order, each once.

    Args:
        names: Names, globs, recipe strings, files or folders.
        options: What the caller changes about every exam.

    Raises:
        ProctorError: Every name that means nothing, all at once, with the closest names there are.
    """
    chosen = options or ExamOptions()
    exams: dict[str, Exam] = {}
    problems: list[ProctorError] = []
    for name in names:
        try:
            for exam in resolve_task(name, chosen):
                known = exams.setdefault(exam.name, exam)
                _check_same(known, exam, name)
                exams[exam.name] = add_groups(known, getattr(exam, "groups", ()))
        except ProctorError as error:
            problems.append(error)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        raise UsageError([diagnostic for problem in problems for diagnostic in problem.diagnostics])
    if not exams and names:
        raise UsageError(f"nothing is to be asked: {', '.join(names)} hold{'s' * (len(names) == 1)} no exam")
    if not exams:
        raise UsageError(
            "no exam is named", hint="--tasks samples runs the exams that come along; proctor ls lists all"
        )
    _check_samples(exams, chosen)
    return list(exams.values())


def _check_samples(exams: Mapping[str, Exam], options: ExamOptions) -> None:
    """Refuse positions of documents (``--samples``) that nothing would come of: of other exams than lm-eval's tasks."""
    samples = options.samples or {}
    known = {each: exam for name, exam in exams.items() for each in (name, name.partition("@")[0])}
    problems = []
    for name in samples:
        if name not in known:
            hint = did_you_mean(name, known) or f"the exams are {', '.join(exams)}"[:200]
            problems.append(Diagnostic(f"--samples names '{name}', which is none of the exams", hint=hint))
        elif known[name].specification().get("dialect") != "lm_eval":
            what = f"--samples names '{name}', which is no task of lm-eval"
            problems.append(Diagnostic(what, hint="--limit takes the first documents of any exam"))
    if problems:
        raise UsageError(problems)


def _check_same(first: Exam, exam: Exam, name: str) -> None:
    """Refuse a second exam under the name of another one: only one of them would be run."""
    if first is not exam and first.specification() != exam.specification():
        raise UsageError(
            f"'{name}' means an exam '{exam.name}', and so does another name, but they are different exams",
            hint="results are filed by the exam's name: give each a run of its own",
        )


def resolve_task(name: str, options: ExamOptions) -> list[Exam]:
    """Return the exams that one name means.

    Raises:
        UnknownArtifactError: No dialect knows the name.
    """
    for resolver in (_from_catalog, *foreign_resolvers()):
        exams = resolver(name, options)
        if exams is not None:
            return exams
    raise _unknown(name, options)


_FILE_ENDINGS = (".yaml", ".yml", ".json", ".jsonl", ".csv")


def _unknown(name: str, options: ExamOptions) -> UnknownArtifactError:
    """Return the error about a name that nobody knows, with the closest names of all dialects."""
    path = Path(name.partition("::")[0].partition("@")[0])
    if path.suffix in _FILE_ENDINGS and not path.is_file():
        near = [str(each) for each in path.parent.iterdir()] if path.parent.is_dir() else []
        why = "" if path.parent.is_dir() else f"there is no folder '{path.parent}' in {Path.cwd()}"
        hint = did_you_mean(str(path), near) or "paths start at the folder that proctor is called in"
        return UnknownArtifactError(f"there is no file '{path}'", why=why, hint=hint)
    from proctor.dialects.listing import everything

    known = everything(kinds=("exam", "benchmark", "group", "tag", "suite"), include_paths=options.include_paths)
    hint = did_you_mean(name, [entry.name for entry in known])
    missing = ", ".join(catalog.title for catalog in missing_catalogs())
    why = f"PROCTOR_CATALOGS names {missing}, and there is no such folder" if missing else ""
    return UnknownArtifactError(
        f"there is no exam '{name}'", why=why, hint=hint or "proctor ls lists the exams there are"
    )


def foreign_resolvers() -> tuple[Resolver, ...]:
    """Return the resolvers of the other dialects."""
    return (_from_lm_eval, _from_aisbench)


def _from_lm_eval(name: str, options: ExamOptions) -> list[Exam] | None:
    from proctor.dialects.lm_eval.resolve import resolve_name

    return resolve_name(name, options)


def _from_aisbench(name: str, options: ExamOptions) -> list[Exam] | None:
    from proctor.dialects.aisbench.resolve import resolve_name

    return resolve_name(name, options)


def _from_catalog(name: str, options: ExamOptions) -> list[Exam] | None:
    if is_assignments(name):
        return exams_of(name, fetch_artifact(name), options)
    if any(mark in name for mark in "*?") and "[" not in name:
        found = [exam for exam in exam_names() if fnmatchcase(exam, name)]
        return [exam for each in found for exam in _from_catalog(each, options) or ()] or None
    if name.endswith(".json") and Path(name).is_file():
        return exams_of(Path(name).stem, fetch_artifact(name), options)
    try:
        query = parse_query(name)
    except QueryError:
        if "[" in name and "/" not in name:
            raise
        return None
    return _from_catalog_name(name, query.name, options)


def _from_catalog_name(text: str, name: str, options: ExamOptions) -> list[Exam] | None:
    for candidate in (text, f"recipes.{text}", f"benchmarks.{text}"):
        known = candidate.partition("[")[0]
        if any(catalog.path_of(known) is not None for catalog in catalogs()):
            artifact = fetch_artifact(candidate)
            if isinstance(artifact, Recipe):
                return exams_of(text, artifact, options)
            raise UsageError(
                f"'{name}' is a {type(artifact).__name__}, not an exam",
                hint=f"make one of it: card={name}" if name.startswith("cards.") else "proctor ls lists the exams",
            )
    return None


def exam_names() -> list[str]:
    """Return the names of all exams in the catalogs."""
    from proctor.dialects.listing import FIRST_KINDS, entries

    return [entry.name for entry in entries(kinds=FIRST_KINDS)]
