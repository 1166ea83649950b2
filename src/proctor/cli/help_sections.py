"""The order in which help lists options: under headings, where a command has more than fit a screen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click

_A_SCREEN = 20
"""Options that are read through without a heading."""

SECTIONS: Mapping[str, Sequence[str]] = {
    "Who is asked": (
        *("--model", "--model-args", "--batch-size", "--device", "--max-concurrency", "--truncate", "--thinking"),
        *("--thinking-tokens", "--executor", "--batch", "--workers", "--gpus-per-worker", "--ray-address", "--shard"),
    ),
    "Which exams": ("--tasks",),
    "Which questions": ("--precision", "--draw", "--others"),
    "How they are asked": ("--gen-kwargs",),
    "How answers are scored": ("--criteria", "--instance-scores", "--labels"),
    "What it may cost": ("--budget-tokens", "--budget-usd", "--prices"),
    "What exams may do": ("--trust-code", "--sandbox", "--allow", "--no-wall"),
    "What is kept": (
        *("--output", "--output-format", "--log", "--log-samples", "--retry-failed", "--retry-verdicts"),
        *("--refresh", "--tag", "--save-baseline", "--junit"),
    ),
    "What is printed": ("--every-score", "--json", "--quiet", "--write-out"),
    "The exit code": ("--fail-under", "--allow-failures"),
    "Help": ("--traceback", "--help"),
}
"""Options by what somebody looks for, in the order of a run; those of exams are declared, and stand before these."""


def _of_exams() -> Mapping[str, list[str]]:
    """Return the declared options by their section."""
    from proctor.recipes.options import DECLARED

    found: dict[str, list[str]] = {}
    for option in DECLARED.values():
        found.setdefault(option.section, []).extend(each.partition("/")[0] for each in option.flags[:1])
    return found


def grouped(options: Sequence[click.Option]) -> Iterable[tuple[str, list[click.Option]]]:
    """Yield headings with their options; one heading for all where they fit a screen."""
    if len(options) <= _A_SCREEN:
        yield "Options", list(options)
        return
    named = {name: option for option in options for name in option.opts}
    declared = _of_exams()
    listed = {
        heading: [named[name] for name in (*declared.get(heading, ()), *names) if name in named]
        for heading, names in SECTIONS.items()
    }
    placed = {id(option) for group in listed.values() for option in group}
    if own := [option for option in options if id(option) not in placed]:
        yield "Options", own
    yield from ((heading, group) for heading, group in listed.items() if group)
