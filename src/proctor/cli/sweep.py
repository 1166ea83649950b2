"""``proctor sweep``: one exam in many wordings, and how much of its score they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from proctor.cli.commands import Places, WalledCommand, open_wall_for, quiet_option
from proctor.cli.error_reporting import DONE, FAILURES, quietly, say, warn
from proctor.cli.exam_options import exam_options_but, read_options
from proctor.cli.execution import RUNS, Execution, default_output, run_spec, terminated_like_ctrl_c
from proctor.cli.log_option import LOG
from proctor.cli.model_options import budget_options, exams_argument, model_options, named_too
from proctor.cli.run_options import origin_of_model, spec_of_options
from proctor.errors import Diagnostic, ProctorError, UsageError, did_you_mean

if TYPE_CHECKING:
    from proctor.engines.engine import Engine
    from proctor.engines.model_args import Origin
    from proctor.recipes.exam import Exam
    from proctor.running.run import RunResult
    from proctor.running.spec import RunSpec
    from proctor.running.sweeps import Cell, Design, Factor, Level

_FILE = click.Path(dir_okay=False, path_type=Path)
_DIMENSIONS: Final = (
    *("templates", "formats", "demos", "demo_seeds", "system_prompts", "choice_orders", "extraction"),
    "perturbations",
)
_VARIED: Final = {
    "templates": ("template",),
    "formats": ("apply_chat_template", "meta_template", "demos_as_turns"),
    "demos": ("num_demos",),
    "demo_seeds": ("seed",),
    "system_prompts": ("system_prompt",),
    "choice_orders": ("choice_order",),
}
"""Options of exams that a dimension gives other values."""


def _written(given: Mapping[str, Any]) -> Places:
    return [given["output"] or Path(RUNS)], ()


@click.command("sweep", cls=WalledCommand, writes=_written, asks=True)
@exams_argument
@click.option(
    "--templates",
    multiple=True,
    metavar="NAME,…",
    help="Ways to ask: templates by name, all (the exam's own), prompts in words (prompts.txt, --- between), files "
    "of a template (own.yaml); of AISBench, Hugging Face and promptfoo other exams on the same rows.",
)
@click.option(
    "--formats",
    multiple=True,
    metavar="NAME,…",
    help="Layouts: text, chat, chat-turns, chat-one-turn, a file of a meta template, a format of a recipe (formats.…).",
)
@click.option("--demos", metavar="0,1,5", help="How many solved examples a prompt shows.")
@click.option("--demo-seeds", type=click.IntRange(min=1), metavar="N", help="Draws of these examples.")
@click.option(
    "--system-prompts",
    multiple=True,
    metavar="TEXT|FILE",
    help="What opens prompts: words, a file (--- between them), or none; repeatable.",
)
@click.option(
    "--choice-orders", type=click.IntRange(min=1), metavar="N", help="Orders of choices, the exam's own first."
)
@click.option(
    "--extraction",
    metavar="own,first,last,strict",
    help="How answers are read: as the exam does, the first match, the last, only what is clear. Nobody is asked.",
)
@click.option(
    "--perturb",
    "perturbations",
    metavar="NAME,…",
    help="Words of questions a little otherwise, beside the exam's own: whitespace, prefix-suffix, case, punctuation, "
    "typos.",
)
@model_options
@click.option("--output", "-o", type=click.Path(file_okay=False, path_type=Path), help="The folder of the sweep.")
@click.option("--log", type=LOG, help="The response log.")
@click.option("--retry-failed/--keep-failed", default=True, show_default=True, help="Ask again what failed before.")
@budget_options
@click.option(
    "--flips", "most", default=10, show_default=True, type=click.IntRange(0), help="Questions listed that flip."
)
@click.option("--allow-failures", is_flag=True, help="Exit with 0 although instances failed.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@quiet_option
@exam_options_but("perturb", "prompts")
def command(**options: Any) -> int:
    """Ask one exam in every combination of wordings, and say how much of its score they are.

    Each combination is a run of its own in the sweep's folder. A sweep that grows (one more template, more demos) asks
    what is new: all else is in the response log.

    \b
    proctor sweep samples.sentiment --model smollm2 --templates all --demos 0,2 --demo-seeds 3
    proctor sweep rows.csv --model smollm2 --templates prompts.txt --perturb case,typos
    """  # noqa: D301 - click reads the control character
    from proctor.cli.sweep_output import tell
    from proctor.running.sweeps import check_folder, write_sweep

    options = named_too(options)
    mine = {name: options.pop(name) for name in (*_DIMENSIONS, *_MINE)}
    if options.pop("trust_code", None):
        from proctor.settings import settings

        settings.trust_code = True
    options = read_options({**options, "log_samples": None})
    _check_once(mine, options)
    base, exam, output = _named(options, mine)
    cells, readings = _cells(exam, base.tasks[0], {**mine, "prompt": options.get("prompt") or ()})
    design = _design(base, cells, readings)
    check_folder(output, design)
    jobs = {cell.folder: _job(options, cell) for cell in cells}
    _check_cells(cells, [spec for spec, _ in jobs.values()], jobs[cells[0].folder][1])
    write_sweep(output, design.record())
    is_whole = _run(jobs, design, _execution(mine, output), allow_failures=mine["allow_failures"])
    record = _concluded(output, design)
    tell(record, output, mine["most"], as_json=mine["as_json"])
    return DONE if is_whole else FAILURES


_MINE: Final = (
    *("output", "log", "retry_failed", "budget_tokens", "budget_usd", "prices", "most", "allow_failures", "as_json"),
)


def _check_once(mine: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Refuse an option that is given one value and varied as well.

    Raises:
        UsageError: There is one.
    """
    from proctor.recipes.honours import flag_of

    for dimension, names in _VARIED.items():
        given = [name for name in names if options.get(name) is not None]
        if mine[dimension] and given:
            one, several = flag_of(given[0]), f"--{dimension.replace('_', '-')}"
            raise UsageError(f"{one} and {several} say the same", hint=f"leave {one} out, and name its value there")


def _named(options: dict[str, Any], mine: Mapping[str, Any]) -> tuple[RunSpec, Exam, Path]:
    """Return the run that is varied, its exam, and where the sweep is written.

    Raises:
        UsageError: It is not one exam.
    """
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_registry import make_engine
    from proctor.recipes.exam import suited
    from proctor.recipes.permissions import admit

    output: Path | None = mine["output"]
    spec = spec_of_options({**options, "prompt": (options.get("prompt") or ())[:1]})
    with closing(make_engine(spec.model, spec.model_args, origin_of_model(options))) as engine:
        open_wall_for(engine)
        with _hushed():
            exams = exams_of_spec(spec)
        admit(exams, engine)
        of_prompts = exams[0].dialect == "promptfoo" and len(spec.tasks) == 1 and "all" in _split(mine["templates"])
        if len(exams) != 1 and not of_prompts:
            names = ", ".join(each.name for each in exams[:5]) + (" …" if len(exams) > 5 else "")  # noqa: PLR2004
            raise UsageError(
                f"a sweep is of one exam, and {', '.join(spec.tasks)} are {len(exams)}",
                why=names,
                hint="name one of them",
            )
        if output is None:
            known = default_output(spec, suited(exams, engine), engine)
            output = known.with_name(f"sweep-{known.name}")
    return spec, exams[0], output


def _cells(exam: Exam, task: str, mine: Mapping[str, Any]) -> tuple[list[Cell], tuple[str, ...]]:
    """Return the cells of the design and the readings of their answers.

    Raises:
        UsageError: A level cannot be meant.
    """
    from proctor.running.sweeps import crossed

    readings = _readings(exam, mine["extraction"])
    factors = [each for each in _factors(exam, task, mine) if each.levels]
    if not factors and len(readings) < 2:  # noqa: PLR2004 - one reading is no dimension
        offered = ", ".join(f"--{name.replace('_', '-')}" for name in _DIMENSIONS[:-1])
        raise UsageError("nothing is varied", hint=f"say what differs between wordings: {offered}, --perturb")
    return crossed(factors), readings


def _factors(exam: Exam, task: str, mine: Mapping[str, Any]) -> Iterator[Factor]:
    from proctor.dialects import sweep_levels
    from proctor.running import sweeps
    from proctor.running.sweeps import Factor, Level

    numbers = _numbers(mine["demos"])
    if mine["demo_seeds"] and numbers == [0]:
        raise UsageError("--demo-seeds draws demos, and --demos 0 shows none", hint="leave --demo-seeds out")
    templates = [Level(f"prompt-{number}", {"prompt": (text,)}) for number, text in enumerate(mine["prompt"], 1)]
    templates += sweep_levels.template_levels(exam, task, _split(mine["templates"]))
    yield Factor(sweeps.TEMPLATE, tuple(templates))
    yield Factor(sweeps.FORMAT, tuple(sweep_levels.format_levels(exam, task, _split(mine["formats"]))))
    yield Factor(sweeps.DEMOS, tuple(Level(str(each), {"num_demos": each}) for each in numbers))
    draws = range(1, (mine["demo_seeds"] or 0) + 1)
    yield Factor(sweeps.DRAW, tuple(Level(str(each), {"seed": each}) for each in draws))
    if any(text.startswith("none,") for text in mine["system_prompts"]):
        hint = "give each in an option of its own: --system-prompts none --system-prompts TEXT"
        raise UsageError("commas are part of a system prompt", hint=hint)
    yield Factor(sweeps.SYSTEM, tuple(sweep_levels.system_levels(mine["system_prompts"])))
    orders = range(mine["choice_orders"] or 0)
    yield Factor(sweeps.ORDER, tuple(Level(str(each), {"choice_order": each or None}) for each in orders))
    yield Factor(sweeps.PERTURBATION, tuple(_perturbations(mine["perturbations"])))


@contextmanager
def _hushed() -> Iterator[None]:
    """Leave out what the first cell's run says already, and every other one would say again."""
    from proctor.settings import settings

    with quietly(), settings.context(default_verbosity="error"):
        yield


def _split(texts: Sequence[str]) -> list[str]:
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def _numbers(text: str | None) -> list[int]:
    parts = _split([text or ""])
    if bad := next((each for each in parts if not each.isdigit()), ""):
        raise UsageError(f"--demos takes whole numbers, and '{bad}' is none", hint="--demos 0,1,5")
    return [int(each) for each in parts]


def _perturbations(text: str | None) -> Iterator[Level]:
    from proctor.recipes.options import PERTURBED
    from proctor.running.sweeps import Level

    names = _split([text or ""])
    if names:
        yield Level("none", {})
    for name in names:
        if name not in PERTURBED:
            hint = did_you_mean(name, PERTURBED)
            raise UsageError(f"there is no perturbation '{name}'", why=f"there are {', '.join(PERTURBED)}", hint=hint)
        yield Level(name, {"perturb": name})


def _readings(exam: Exam, text: str | None) -> tuple[str, ...]:
    from proctor.recipes.exam_parts import NEED_SCORES
    from proctor.runs.readings import OWN
    from proctor.scoring.text.how_read import WAYS

    names, known = _split([text or ""]), (OWN, *WAYS)
    if bad := next((each for each in names if each not in known), ""):
        hint = did_you_mean(bad, known)
        raise UsageError(f"there is no reading '{bad}'", why=f"there are {', '.join(known)}", hint=hint)
    if len(set(names)) < len(names):
        raise UsageError("--extraction names the same reading twice", hint="leave one of them out")
    if names and not exam.asker.kinds - NEED_SCORES and "text" not in exam.variants:
        raise UsageError(
            f"'{exam.name}' cannot honour --extraction",
            why="it compares log-probabilities, and no answer is read",
            hint="leave the option out for this exam",
        )
    return tuple(names)


def _design(base: RunSpec, cells: Sequence[Cell], readings: tuple[str, ...]) -> Design:
    from proctor.running.sweeps import Design

    return Design(base.tasks[0], _label(base), tuple(cells), readings)


def _label(spec: RunSpec) -> str:
    from proctor.engines.engine_registry import make_engine

    with closing(make_engine(spec.model, spec.model_args, None)) as engine:
        return engine.label


def _job(options: Mapping[str, Any], cell: Cell) -> tuple[RunSpec, Origin]:
    given = {**options, **cell.changes}
    return spec_of_options(given), origin_of_model(given)


# -- before anybody is asked ------------------------------------------------------------------------------------------

_LOOKED_AT: Final = 10
"""Questions of two cells that are put in words to see whether they are the same wording."""


def _check_cells(cells: Sequence[Cell], specs: Sequence[RunSpec], origin: Origin) -> None:
    """See to it that every cell can be asked, and that no two of them ask the same; before the first is asked.

    Raises:
        UsageError: Some cannot; with what is wrong, each thing once.
    """
    from proctor.engines.engine_registry import make_engine

    problems: dict[str, Diagnostic] = {}
    seen: dict[Any, Cell] = {}
    rows: list[str] = []
    with closing(make_engine(specs[0].model, specs[0].model_args, origin)) as engine, _hushed():
        for cell, spec in zip(cells, specs, strict=True):
            try:
                digests, asked = _first_questions(spec, engine)
            except ProctorError as error:
                for each in error.diagnostics:
                    problems.setdefault(each.what, replace(each, path=each.path or cell.name))
                continue
            rows = rows or digests
            if digests != rows:
                raise UsageError(f"'{cell.name}' asks other rows than '{cells[0].name}'", hint="a sweep is of one exam")
            if (other := seen.setdefault(asked, cell)) is not cell:
                what = [name for name in cell.levels if cell.levels[name] != other.levels.get(name)]
                raise UsageError(
                    f"'{other.name}' and '{cell.name}' ask the same",
                    why=f"another {' and '.join(what)} changes nothing in the first questions",
                    hint="leave one of them out: it would count as another wording",
                )
    if problems:
        raise UsageError(list(problems.values())[:_TOLD])


_TOLD: Final = 10  # problems that are listed: with hundreds of cells many are one


def _first_questions(spec: RunSpec, engine: Engine) -> tuple[list[str], Any]:
    """Return the digests of the first rows of a cell, and what is asked of them.

    Raises:
        ProctorError: They cannot be asked.
    """
    from itertools import islice

    from proctor.dialects.run_file import exams_of_spec
    from proctor.recipes.exam import suited

    exams = suited(exams_of_spec(spec), engine)
    if len(exams) != 1:
        raise UsageError(f"{', '.join(spec.tasks)} are {len(exams)} exams", hint="name one of them")
    if problems := exams[0].problems(engine):
        raise UsageError(problems)
    first = list(islice(exams[0].questions(), _LOOKED_AT))
    return [each.digest for each in first], repr([each.requests for each in first])


# -- asking -----------------------------------------------------------------------------------------------------------


def _execution(mine: Mapping[str, Any], output: Path) -> Execution:
    names = ("log", "retry_failed", "budget_tokens", "budget_usd", "prices")
    return Execution(
        output=output, **{name: mine[name] for name in names}, trust_code=None, executor="local", workers=None,
        ray_address=None, output_format="proctor", write_out=False,
    )  # fmt: skip


def _run(
    jobs: Mapping[str, tuple[RunSpec, Origin]], design: Design, execution: Execution, *, allow_failures: bool
) -> bool:
    """Let every cell be asked; return whether all of it was, without failures."""
    from proctor.cli.run_config import each_in_its_folder

    names = {cell.folder: cell.name for cell in design.cells}
    left, is_whole = execution, True
    with terminated_like_ctrl_c():
        for number, (folder, (spec, origin), place) in enumerate(each_in_its_folder(jobs, execution, alone=True), 1):
            say(f"wording {number} of {len(jobs)}: {names[folder]}")
            here = replace(place, budget_tokens=left.budget_tokens, budget_usd=left.budget_usd)
            with _hushed() if number > 1 else nullcontext():
                result = run_spec(spec, here, origin)
            failed = sum(int(entry.get("failures") or 0) for entry in result.results.values())
            is_whole = is_whole and (not failed or allow_failures)
            if failed:
                warn(f"warning: {failed} instances of '{names[folder]}' failed; its samples.jsonl has the reasons")
            left = _less(left, result)
            if result.stopped is not None or _is_spent(left):
                why = result.stopped or "the budget is used up"
                warn(f"stopped: {why}; {len(jobs) - number} wordings were not asked, and the scores are of what was")
                return number == len(jobs) and result.stopped is None and is_whole
    return is_whole


def _less(left: Execution, result: RunResult) -> Execution:
    """Return how much of a budget is left after a run."""
    tokens, usd = left.budget_tokens, left.budget_usd
    if tokens is not None:
        sent = result.run["requests"]["asked"] and sum(_tokens(each) for each in result.run["usage"].values())
        tokens -= int(sent)
    if usd is not None:
        usd -= float((result.run.get("cost") or {}).get("usd_of_this_run") or 0.0)
    return replace(left, budget_tokens=tokens, budget_usd=usd)


def _tokens(usage: Mapping[str, Any]) -> int:
    return int(usage.get("prompt_tokens") or 0) + int(usage.get("completion_tokens") or 0)


def _is_spent(left: Execution) -> bool:
    return (left.budget_tokens is not None and left.budget_tokens < 1) or (
        left.budget_usd is not None and left.budget_usd <= 0
    )


def _concluded(folder: Path, design: Design) -> dict[str, Any]:
    """Read the cells, file what they come to in the sweep's folder, and return it."""
    from proctor.dialects.run_file import exam_of_run
    from proctor.running.sweeps import write_sweep
    from proctor.runs.sweep import result_of
    from proctor.runs.sweep_scores import sweep_scores

    scores = sweep_scores(folder, design, exam_of_run)
    record = {**design.record(), "result": result_of(scores, design)}
    write_sweep(folder, record)
    return record
