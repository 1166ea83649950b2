"""``proctor sweep``: one exam in many wordings, and how much of its score they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from proctor.cli.commands import RUNS, WalledCommand, open_wall_for, quiet_option
from proctor.cli.error_reporting import DONE, FAILURES, UNDECIDED, quietly, say, show, warn
from proctor.cli.exam_options import exam_options, read_options, take_trust
from proctor.cli.execution import Execution, budget_of, default_output, run_spec, terminated_like_ctrl_c
from proctor.cli.log_option import LOG
from proctor.cli.model_options import budget_options, exams_argument, model_options, named_too
from proctor.cli.run_options import origin_of_model, spec_of_options
from proctor.errors import Diagnostic, ProctorError, UsageError, did_you_mean

if TYPE_CHECKING:
    from proctor.engines.model_args import Origin
    from proctor.recipes.exam import Exam
    from proctor.running.spec import RunSpec
    from proctor.running.sweep_parts import GridPart
    from proctor.running.sweeps import Cell, Design, Factor

    _Jobs = Mapping[str, tuple[RunSpec, Origin]]

_DIMENSIONS: Final = {
    "templates": ("template",), "formats": ("apply_chat_template", "meta_template", "demos_as_turns"),
    "demos": ("num_demos",), "demo_seeds": ("seed",), "system_prompts": ("system_prompt",),
    "choice_orders": ("choice_order",), "extraction": (), "perturbations": (),
}  # fmt: skip
"""What may be varied, with the options of exams that it gives other values."""
_TEMPLATES: Final = (
    "Ways to ask: templates by name, all (the exam's own), prompts in words (prompts.txt, --- between), files of a "
    "template (own.yaml); of AISBench, Hugging Face and promptfoo other exams on the same rows."
)
_FORMATS: Final = (
    "Layouts: text, chat, chat-turns, chat-one-turn, a meta template's file, a recipe's format (formats.…)."
)
_SYSTEM: Final = "What opens prompts: words, a file (--- between them), or none; repeatable."
_READ: Final = "How answers are read: as the exam does, the first match, the last, only what is clear. Nobody is asked."
_PERTURB: Final = (
    "Words of questions a little otherwise, beside the exam's own: whitespace, prefix-suffix, case, punctuation, typos."
)


_PART: Final = "Ask that part of all questions under all wordings, drawn at random; a model estimates the rest."


@click.command("sweep", cls=WalledCommand, writes=lambda given: ([given["output"] or Path(RUNS)], ()), asks=True)
@exams_argument
@click.option("--templates", multiple=True, metavar="NAME,…", help=_TEMPLATES)
@click.option("--formats", multiple=True, metavar="NAME,…", help=_FORMATS)
@click.option("--demos", default="", metavar="0,1,5", help="How many solved examples a prompt shows.")
@click.option("--demo-seeds", type=click.IntRange(min=1), metavar="N", help="Draws of these examples.")
@click.option("--system-prompts", multiple=True, metavar="TEXT|FILE", help=_SYSTEM)
@click.option("--choice-orders", type=click.IntRange(min=1), metavar="N", help="Orders of choices, the exam's first.")
@click.option("--extraction", default="", metavar="own,first,last,strict", help=_READ)
@click.option("--perturb", "perturbations", default="", metavar="NAME,…", help=_PERTURB)
@model_options
@click.option("--output", "-o", type=click.Path(file_okay=False, path_type=Path), help="The folder of the sweep.")
@click.option("--log", type=LOG, help="The response log.")
@click.option("--retry-failed/--keep-failed", default=True, show_default=True, help="Ask again what failed before.")
@budget_options
@click.option("--budget", "grid_part", metavar="N%|N", help=_PART)
@click.option("--flips", default=10, show_default=True, type=click.IntRange(0), help="Questions listed that flip.")
@click.option("--allow-failures", is_flag=True, help="Exit with 0 although instances failed.")
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@quiet_option
@exam_options
def command(output: Path | None, flips: int, allow_failures: bool, as_json: bool, **options: Any) -> int:
    """Ask one exam in every combination of wordings, and say how much of its score they are.

    Each combination is a run of its own in the sweep's folder. A sweep that grows (one more template, more demos) asks
    what is new: all else is in the response log.

    \b
    proctor sweep samples.sentiment --model smollm2 --demos 0,2 --perturb case
    proctor sweep rows.csv --model smollm2 --templates prompts.txt --perturb case,typos
    """  # noqa: D301 - click reads the control character
    from proctor.cli.json_output import print_json
    from proctor.data.read_once import read_once
    from proctor.dialects.run_file import exam_of_run
    from proctor.running.sweeps import check_folder
    from proctor.runs.sweep import result_of, sweep_scores

    options = named_too(options)
    varied, budget = {name: options.pop(name) for name in _DIMENSIONS}, options.pop("grid_part")
    how = {name: options.pop(name) for name in ("log", "retry_failed", "budget_tokens", "budget_usd", "prices")}
    take_trust(options)
    options = read_options({**options, "log_samples": None})
    with read_once():
        design, parts, place = _design(varied, options, budget)
        folder = output or place
        check_folder(folder, design)
        given = {cell.folder: {**options, **cell.changes} for cell in design.cells}
        jobs = {name: (spec_of_options(each), origin_of_model(each)) for name, each in given.items()}
        _check_cells(design.cells, jobs)
        design.write(folder)
        is_whole = _run(design, jobs, parts, Execution(
            output=folder, **how, trust_code=None, executor="local", workers=None, ray_address=None,
            output_format="proctor", write_out=False, says_doubts=False,
        ))  # fmt: skip
    record = design.write(folder, result_of(sweep_scores(folder, design, exam_of_run), design))
    if as_json:
        print_json(record, indent=2)
    else:
        show(sweep_text(record, flips))
    say(f"sweep folder: {folder}")
    return DONE if is_whole or allow_failures else FAILURES


command.params = [each for each in command.params if each.name not in ("perturb", "prompts")]  # which are varied


def _design(
    varied: Mapping[str, Any], options: dict[str, Any], budget: str | None
) -> tuple[Design, Mapping[str, GridPart], Path]:
    """Return what is asked, the part of each cell where it is not all, and where it is written unless the user says it.

    Raises:
        UsageError: It is not one exam; a level cannot be meant; an option is varied and given at once.
    """
    from proctor.dialects import sweep_levels
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_registry import make_engine
    from proctor.recipes.exam import suited
    from proctor.recipes.honours import flag_of
    from proctor.recipes.permissions import admit
    from proctor.running.sweep_parts import with_part
    from proctor.running.sweeps import Design, crossed

    for dimension, names in _DIMENSIONS.items():
        if varied[dimension] and (given := [name for name in names if options.get(name) is not None]):
            one, several = flag_of(given[0]), f"--{dimension.replace('_', '-')}"
            raise UsageError(f"{one} and {several} say the same", hint=f"leave {one} out, and name its value there")
    prompts = options.get("prompt") or ()
    spec = spec_of_options({**options, "prompt": prompts[:1]})
    with closing(make_engine(spec.model, spec.model_args, origin_of_model(options))) as engine:
        open_wall_for(engine)
        with _hushed():
            try:
                exams = exams_of_spec(spec)
            except UsageError:  # a table whose columns do not say what is asked: its prompts do
                text = sweep_levels.first_prompt(spec.tasks[0], _split(varied["templates"]))
                if prompts or not text:
                    raise
                exams = exams_of_spec(spec_of_options({**options, "prompt": (text,)}))
        admit(exams, engine)
        if len(exams) != 1:
            what = f"a sweep is of one exam, and {', '.join(spec.tasks)} are {len(exams)}"
            raise UsageError(what, why=", ".join(each.name for each in islice(exams, 5)), hint="name one of them")
        factors = [each for each in _factors(exams[0], spec.tasks[0], varied, prompts) if each.levels]
        exams = suited(exams, engine)
        readings = _readings(exams[0], _split([varied["extraction"]]))
        if not factors and not readings:
            offered = ", ".join(f"--{name.replace('_', '-')}" for name in list(_DIMENSIONS)[:-1])
            raise UsageError("nothing is varied", hint=f"say what differs between wordings: {offered}, --perturb")
        place = default_output(spec, exams, engine)
        parts: Mapping[str, GridPart] = {}
        design = Design(spec.tasks[0], engine.label, tuple(crossed(factors)), readings)
        if budget is not None:
            if by := options.get("clusters") or exams[0].clusters:
                why = f"its questions come in clusters of '{by}', and the model of --budget takes them as independent"
                raise UsageError(f"'{exams[0].name}' cannot be asked in part", why=why, hint="leave --budget out")
            digests = [each.digest for each in exams[0].questions()]
            design, parts = with_part(design, budget, digests, options.get("seed"))
    return design, parts, place.with_name(f"sweep-{place.name}")


def _factors(exam: Exam, task: str, varied: Mapping[str, Any], prompts: Sequence[str]) -> Iterator[Factor]:
    from proctor.dialects import sweep_levels
    from proctor.recipes.options import PERTURBED
    from proctor.running import sweeps
    from proctor.running.sweeps import Factor, Level

    demos, changed = _split([varied["demos"]]), _split([varied["perturbations"]])
    if bad := next((each for each in demos if not each.isdigit()), ""):
        raise UsageError(f"--demos takes whole numbers, and '{bad}' is none", hint="--demos 0,1,5")
    if varied["demo_seeds"] and set(demos) == {"0"}:
        raise UsageError("--demo-seeds draws demos, and --demos 0 shows none", hint="leave --demo-seeds out")
    _check_known("perturbation", changed, PERTURBED)
    templates = [Level(f"prompt-{number}", {"prompt": (text,)}) for number, text in enumerate(prompts, 1)]
    templates += sweep_levels.template_levels(exam, task, _split(varied["templates"]))
    draws, orders = range(1, (varied["demo_seeds"] or 0) + 1), range(varied["choice_orders"] or 0)
    own = [Level("none")] if changed else []
    yield Factor(sweeps.TEMPLATE, tuple(templates))
    yield Factor(sweeps.FORMAT, tuple(sweep_levels.format_levels(exam, task, _split(varied["formats"]))))
    yield Factor(sweeps.DEMOS, tuple(Level(each, {"num_demos": int(each)}) for each in demos))
    yield Factor(sweeps.DRAW, tuple(Level(str(each), {"seed": each}) for each in draws))
    yield Factor(sweeps.SYSTEM, tuple(sweep_levels.system_levels(varied["system_prompts"])))
    yield Factor(sweeps.ORDER, tuple(Level(str(each), {"choice_order": each or None}) for each in orders))
    yield Factor(sweeps.PERTURBATION, (*own, *(Level(each, {"perturb": each}) for each in changed)))


def _split(texts: Sequence[str]) -> list[str]:
    return [name.strip() for text in texts for name in text.split(",") if name.strip()]


def _check_known(what: str, names: Sequence[str], known: Sequence[str]) -> None:
    if bad := next((each for each in names if each not in known), ""):
        why = f"there are {', '.join(known)}"
        raise UsageError(f"there is no {what} '{bad}'", why=why, hint=did_you_mean(bad, known))


def _readings(exam: Exam, names: Sequence[str]) -> tuple[str, ...]:
    from proctor.recipes.exam_parts import NEED_SCORES
    from proctor.runs.readings import OWN
    from proctor.scoring.grading.grader import ExamGrader
    from proctor.scoring.text.how_read import WAYS

    _check_known("reading", names, (OWN, *WAYS))
    why = "" if exam.asker.kinds - NEED_SCORES else "it compares log-probabilities, and no answer is read"
    if not isinstance(getattr(exam.grader, "grader", exam.grader), ExamGrader):
        why = "each of its repeats is graded by itself, and the answers of one are read again, not of several"
    if names and why:
        raise UsageError(f"'{exam.name}' cannot honour --extraction", why=why, hint="leave the option out")
    return tuple(dict.fromkeys(names))


@contextmanager
def _hushed() -> Iterator[None]:
    """Leave out what the first cell's run says already, and every other one would say again."""
    from proctor.settings import settings

    with quietly(), settings.context(default_verbosity="error"):
        yield


_LOOKED_AT: Final = 10  # questions of cells that are put in words to tell the cells apart; and problems that are told


def _check_cells(cells: Sequence[Cell], jobs: _Jobs) -> None:
    """See to it that every cell can be asked, and that no two of them ask the same; before the first is asked.

    Raises:
        UsageError: Some cannot; with what is wrong, each thing once.
    """
    from proctor.cli.exam_notes import tell_doubts
    from proctor.dialects.run_file import exams_of_spec
    from proctor.engines.engine_registry import make_engine
    from proctor.prompts.doubts import doubts_of
    from proctor.recipes.exam import suited

    problems: dict[str, Diagnostic] = {}
    seen: dict[str, Cell] = {}
    doubts: dict[str, list[str]] = {}
    rows: list[str] = []
    spec, origin = jobs[cells[0].folder]
    with closing(make_engine(spec.model, spec.model_args, origin)) as engine, _hushed():
        for cell in cells:
            try:
                exams = suited(exams_of_spec(jobs[cell.folder][0]), engine)
                if len(exams) != 1:
                    raise UsageError(f"'{cell.name}' is {len(exams)} exams", hint="name one of them")
                if found := exams[0].problems(engine):
                    raise UsageError(found)
                for text in doubts_of(exams[0]):
                    doubts.setdefault(text, []).append(f"'{cell.name}'")
                first = list(islice(exams[0].questions(), _LOOKED_AT))
            except ProctorError as error:
                for each in error.diagnostics:
                    problems.setdefault(
                        each.what, replace(each, path=f"{cell.name}: {each.path}" if each.path else cell.name)
                    )
                continue
            digests = [each.digest for each in first]
            rows = rows or digests
            if digests != rows:
                raise UsageError(f"'{cell.name}' asks other rows than '{cells[0].name}'", hint="a sweep is of one exam")
            if (other := seen.setdefault(repr([each.requests for each in first]), cell)) is not cell:
                what = " and ".join(name for name in cell.levels if cell.levels[name] != other.levels.get(name))
                why = f"another {what} changes nothing in the first questions"
                hint = "leave one of them out: it would count as another wording"
                raise UsageError(f"'{other.name}' and '{cell.name}' ask the same", why=why, hint=hint)
    if problems:
        raise UsageError(list(problems.values())[:_LOOKED_AT])
    tell_doubts(doubts)


def _run(design: Design, jobs: _Jobs, parts: Mapping[str, GridPart], execution: Execution) -> bool:
    """Let every cell be asked, within one budget; return whether all of it was, without failures."""
    from proctor.engines.engine_registry import make_engine
    from proctor.running.log import ResponseLog

    is_whole, count = True, len(design.cells)
    spec, origin = jobs[design.cells[0].folder]
    with closing(make_engine(spec.model, spec.model_args, origin)) as engine:
        execution = replace(execution, budget=budget_of(engine, execution))
    with terminated_like_ctrl_c(), ResponseLog(execution.log):  # SQLite tidies a log up whenever its last user leaves
        for number, cell in enumerate(design.cells, 1):
            here = replace(execution, output=(execution.output or Path()) / cell.folder)
            say(f"wording {number} of {count}: {cell.name}")
            with _hushed() if number > 1 else nullcontext():
                spec, origin = jobs[cell.folder]
                result = run_spec(spec, here, origin, parts.get(cell.folder))
            if failed := sum(int(entry.get("failures") or 0) for entry in result.results.values()):
                warn(f"warning: {failed} instances of '{cell.name}' failed; its samples.jsonl has the reasons")
            is_whole = is_whole and not failed
            if result.stopped is not None:
                left = f"{count - number} wordings were not asked, and the scores are of what was"
                warn(f"stopped: {result.stopped}; {left}")
                return False
    return is_whole


def sweep_text(record: Mapping[str, Any], flips: int) -> str:
    """Return what a sweep came to as Markdown, in columns."""
    from proctor.cli.report_labels import markdown_tables
    from proctor.runs.sweep_tables import sentences, tables

    return "\n".join([*sentences(record), *markdown_tables(tables(record, flips))])


def report_sweep(folders: Sequence[Path], output: Path | None, form: str | None, flips: int) -> int:
    """Print what a sweep came to, or write it as HTML or Markdown; return the exit code.

    Raises:
        UsageError: There are several, it has not ended, or the format is of other things.
    """
    from proctor.cli.report_items import write_report
    from proctor.running.sweeps import damage_told, read_sweep
    from proctor.web.sweep_pages import sweep_report

    record = read_sweep(folders[0])
    if len(folders) > 1 or form not in (None, "html", "md"):
        raise UsageError("a report of a sweep is of one, as html or md", hint="proctor compare is for two")
    if "result" not in record:
        raise UsageError(f"{folders[0]} has no result yet", hint="the same proctor sweep goes on with it")
    with damage_told(folders[0]):
        text = sweep_report(record) if form == "html" else sweep_text(record, flips) + "\n"
    if form is None:
        show(text)
    else:
        write_report(output or Path(f"sweep.{form}"), text)
    return DONE


def check_sweeps(folders: Sequence[Path]) -> None:
    """See to it that ``--over wordings`` is said of sweeps.

    Raises:
        UsageError: Something else is among them.
    """
    from proctor.running.sweeps import is_sweep

    if bad := next((each for each in folders if not is_sweep(each)), None):
        why = "a run asks in one wording, which says nothing of others"
        hint = "proctor sweep asks an exam in several, and its folder can be named here"
        raise UsageError(f"{bad} is not a sweep, which has an interval over wordings", why=why, hint=hint)


def report_over_wordings(folders: Sequence[Path], output: Path | None, form: str | None, *, as_json: bool) -> int:
    """Print the scores of sweeps with the interval that holds for other wordings, or write them as Markdown.

    Raises:
        UsageError: One is not a sweep or has no such interval, or the format is of other things.
    """
    from proctor.cli.json_output import print_json
    from proctor.cli.report_items import write_report
    from proctor.cli.report_labels import markdown_tables
    from proctor.running.sweeps import damage_told, read_sweep
    from proctor.runs.sweep_tables import scores_over_wordings

    check_sweeps(folders)
    if form not in (None, "md"):
        raise UsageError("--over wordings is written as md", hint="add --format md, or --json without a file")
    records = {str(folder): read_sweep(folder) for folder in folders}
    for name, record in records.items():
        if "over_wordings" not in (result := record.get("result") or {}):
            why = "; ".join(result.get("notes") or ["it has not ended"])
            raise UsageError(f"{name} has no interval over wordings", why=why, hint=f"leave {name} out")
    with damage_told(folders[0]):
        table = scores_over_wordings(records)
    if as_json:
        rows = [
            {"sweep": n, "model": r["model"], "exam": r["exam"], **r["result"]["over_wordings"]}
            for n, r in records.items()
        ]
        print_json(rows, indent=2)
    elif form is None:
        show("\n".join(markdown_tables([table])))
    else:
        write_report(output or Path("sweeps.md"), "\n".join(markdown_tables([table])) + "\n")
    return DONE


def compare_sweeps(folders: Sequence[str], clusters: str | None, *, fail_if_worse: bool, as_json: bool) -> int:
    """Print by how much sweeps are higher than the first, over their wordings; return the exit code.

    Raises:
        UsageError: They share too little, or one is not a sweep.
    """
    from proctor.cli.json_output import print_json
    from proctor.cli.report_labels import markdown_tables
    from proctor.dialects.run_file import exam_of_run
    from proctor.running.sweeps import Design, damage_told, read_sweep
    from proctor.runs.sweep import difference_of, sweep_scores
    from proctor.runs.sweep_tables import difference_told

    check_sweeps(list(map(Path, folders)))
    read = []
    for folder in map(Path, folders):
        with damage_told(folder):
            design = Design.of(read_sweep(folder))
        read.append(sweep_scores(folder, design, exam_of_run, clusters))
    level = 1 - 0.05 / (len(folders) - 1)
    named = [{"baseline": folders[0], "sweep": name} for name in folders[1:]]
    found = [{**each, **difference_of(read[0], other, level)} for each, other in zip(named, read[1:], strict=True)]
    if as_json:
        print_json(found, indent=2)
    else:
        for text, table in map(difference_told, found):
            show("\n".join([text, *markdown_tables([table])]))
    return _verdict(found) if fail_if_worse else DONE


def _verdict(found: Sequence[Mapping[str, Any]]) -> int:
    """Say which sweeps are worse over their wordings, or may be; return the exit code of a gate."""
    codes = set[int]()
    for each in found:
        name, what = each["sweep"], "answers" if "answers" in each else "questions"
        few = f"{each['unanswered']} {what} have no score under some wording"
        if not each["better"] or each["least"] < 0 <= each["most"]:
            why = few if each["better"] else "no run says whether more of its score is better"
            say(f"UNDECIDED: {name}: {why}")
            codes.add(UNDECIDED)
        elif each["most"] < 0:
            say(f"FAILED: {name} is worse over its wordings")
            codes.add(FAILURES)
        else:
            say(f"PASSED: {name} is not worse over its wordings by more than chance")
    return FAILURES if FAILURES in codes else UNDECIDED if UNDECIDED in codes else DONE
