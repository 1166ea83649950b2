"""``proctor export``: a run in the formats of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.error_reporting import say
from proctor.cli.run_folders import RunFolder

if TYPE_CHECKING:
    from proctor.runs.stored_run import StoredRun

Files = tuple[dict[str, str], list[str]]
"""Contents by path, and what is left out."""

FORMS = ("eee", "eval-results", "lm-eval", "inspect")
SENT = ("mlflow", "wandb", "trackio")
"""Experiment trackers keep a run where they are set up to; nothing is written into a folder."""


def _is_sent(given: Mapping[str, Any]) -> bool:
    """Whether a tracker gets the run: its library starts programs, and asks and writes where its variables say."""
    return given["to"] in SENT


@click.command("export", cls=WalledCommand, writes=lambda given: ((given["output"] or Path(),), ()), is_open=_is_sent)
@click.argument("run", type=RunFolder())
@click.option("--to", type=click.Choice([*FORMS, *SENT]), required=True, help="Whose format.")
@click.option("--output", "-o", type=click.Path(path_type=Path, file_okay=False), help="A folder; by default this one.")
@click.option("--model-id", help="eee: the model as ORG/NAME; by default what the run says.")
@click.option("--organization", default="unknown", show_default=True, help="eee: who ran it.")
@click.option(
    "--relationship",
    type=click.Choice(["first_party", "third_party", "collaborative", "other"]),
    default="other",
    show_default=True,
    help="eee: what they are to the model.",
)
@click.option("--source-url", help="eval-results: where the numbers can be looked at.")
@click.option("--project", help="Trackers: the project (mlflow: the experiment); by default what they are set up for.")
@click.option("--run-name", help="Trackers: what the run is called there; by default model and folder.")
def command(
    *,
    run: Path,
    to: str,
    output: Path | None,
    model_id: str | None,
    organization: str,
    relationship: str,
    source_url: str | None,
    project: str | None,
    run_name: str | None,
) -> None:
    """Write a finished RUN as others want it.

    \b
    eee           Every Eval Ever 0.3: scores with intervals, and instances
    eval-results  .eval_results/*.yaml for the model's repository on the Hugging Face hub
    lm-eval       results_*.json and samples_*.jsonl, of exams of every dialect
    inspect       logs for inspect's viewer
    mlflow, wandb, trackio    a run of the tracker, where its variables say (MLFLOW_TRACKING_URI,
                  WANDB_MODE, TRACKIO_DIR …): scores, intervals, counts, fingerprints, instances
    """  # noqa: D301 - click's mark for lines that stay
    from proctor.errors import UsageError
    from proctor.runs.stored_run import load_run

    _refuse_others(
        to,
        {
            "eee": (model_id, organization != "unknown", relationship != "other"),
            "eval-results": (source_url,),
            ", ".join(SENT): (project, run_name),
            ", ".join(FORMS): (output,),
        },
    )
    stored = load_run(run)
    if not stored.results:
        why = stored.problem or "the run did not end, or the folder holds none"
        raise UsageError(f"there are no results in {run}", why=why)
    if to in SENT:
        _send(stored, to, project, run_name)
        return
    writers: dict[str, Callable[[], Files]] = {
        "eee": lambda: _eee(stored, model_id, organization, relationship),
        "eval-results": lambda: _eval_results(stored, source_url),
        "lm-eval": lambda: _lm_eval(stored),
        "inspect": lambda: _inspect(stored),
    }
    files, left_out = writers[to]()
    _write(output or Path(), files)
    for reason in left_out:
        say(f"left out: {reason}")
    if not files:
        raise UsageError("nothing could be written", why="; ".join(left_out))


def _refuse_others(to: str, options: dict[str, tuple[object, ...]]) -> None:
    from proctor.errors import UsageError

    for form, given in options.items():
        if to not in form.split(", ") and any(given):
            raise UsageError(
                f"an option of {form} has no effect on {to}", hint="proctor export --help says whose each is"
            )


def _send(run: StoredRun, to: str, project: str | None, run_name: str | None) -> None:
    from proctor.exchange.trackers import Destination, sent
    from proctor.exchange.trackers.record import recorded

    with recorded(run) as record:
        place = sent(to, record, Destination(project, run_name))
    for reason in record.left_out:
        say(f"left out: {reason}")
    say(f"kept in {place}")


def _eee(run: StoredRun, model_id: str | None, organization: str, relationship: str) -> Files:
    from proctor.exchange.every_eval_ever import Source, checked_model_id, records_of

    source = Source(checked_model_id(model_id, run), organization, relationship)  # type: ignore[arg-type]
    records = records_of(run, source)
    files = {path: text for record in records for path, text in record.files()}
    return files, [reason for record in records for reason in record.left_out]


def _eval_results(run: StoredRun, url: str | None) -> Files:
    from proctor.exchange.eval_results import files_of

    return files_of(run, {"url": url, "name": "Proctor"} if url else None)


def _lm_eval(run: StoredRun) -> Files:
    from proctor.exchange.lm_eval_files import files_of

    return files_of(run)


def _inspect(run: StoredRun) -> Files:
    from proctor.exchange.inspect_files import files_of

    return files_of(run)


def _write(output: Path, files: dict[str, str]) -> None:
    from proctor.errors import OutputError
    from proctor.safe_files import write_for_user

    for name, text in files.items():
        place = output / name
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_for_user(place, text)
        except OSError as error:
            raise OutputError.unwritable(str(place), error, "another --output") from None
        say(f"written to {place}")
