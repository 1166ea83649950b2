"""``proctor ls``: exams and artifacts, one line each."""

from __future__ import annotations

import shutil
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from proctor.cli.commands import WalledCommand
from proctor.cli.error_reporting import say, wants_colour
from proctor.cli.include_paths import include_path_option
from proctor.errors import UsageError, did_you_mean
from proctor.terminal_text import printable

if TYPE_CHECKING:
    from proctor.dialects.dialect import Entry

LEAST_ROOM = 8
"""Columns below which a description is left out rather than cut."""

OF_LM_EVAL = {
    "tasks": ("exam", "group", "tag", "benchmark", "suite"),
    "subtasks": ("exam",),
    "groups": ("group", "benchmark", "suite"),
    "tags": ("tag",),
}
"""What lm-eval's words mean, by kinds."""


@click.command("ls", cls=WalledCommand)
@click.argument("words", nargs=-1, metavar="[PATTERN]")
@click.option("--kind", "-k", "kinds", multiple=True, help="Only this kind: exam, card, task, template …")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
@include_path_option()
@click.option(
    "--from", "source", default="", metavar="WORD", help="Only from sources with this word: lm-eval, a folder …"
)
def command(
    words: tuple[str, ...], kinds: tuple[str, ...], as_json: bool, include_paths: tuple[str, ...], source: str
) -> None:
    """List exams and artifacts.

    PATTERN is a glob over names ('cards.mmlu*') or words that occur in the name or the description. As in lm-eval, the
    first word may be tasks (exams, groups and tags), subtasks (exams), groups or tags.
    """
    from proctor.dialects.listing import everything

    asked, words = (words[0], words[1:]) if words and words[0] in OF_LM_EVAL and not kinds else ("", words)
    wanted = [kind.lower().replace("-", " ") for kind in kinds] or list(OF_LM_EVAL.get(asked, ()))
    pattern = " ".join(words) or None
    if asked == "tasks":
        say(
            "note: these are exams, groups and tags; --kind task lists the schemas of problems that recipes are made of"
        )
    found = everything(pattern, wanted, include_paths, source)
    if not found:
        raise _nothing_found(pattern, wanted, include_paths, source)
    if as_json:
        from proctor.cli.json_output import print_json

        for entry in found:
            print_json(asdict(entry))
    else:
        _print_table(found)


def _nothing_found(pattern: str | None, wanted: list[str], include_paths: tuple[str, ...], source: str) -> UsageError:
    from proctor.dialects.listing import everything, is_from

    known = everything(include_paths=include_paths)
    if source and not any(is_from(entry, source) for entry in known):
        sources = sorted({entry.source.partition(" ")[0] for entry in known if "/" not in entry.source})
        return UsageError(
            f"nothing comes from a source with the word '{source}'",
            hint=did_you_mean(source, sources) or f"there are {', '.join(sources)}, and files by their path",
        )
    if wanted:
        kinds = sorted({entry.kind for entry in known})
        for kind in wanted:
            if kind not in kinds:
                hint = did_you_mean(kind, kinds) or f"the kinds are {', '.join(kinds)}"
                return UsageError(f"there is nothing of the kind '{kind}'", hint=hint)
    subject = f"no {' or '.join(wanted)}" if wanted else "nothing"
    what = f"{subject} matches '{pattern}'" if pattern else "no catalog has anything"
    what += f" from '{source}'" if source else ""
    return UsageError(
        what, hint=did_you_mean(pattern or "", (entry.name for entry in known)) or "proctor ls lists everything"
    )


def _print_table(found: list[Entry]) -> None:
    colour, terminal = wants_colour(sys.stdout), sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else 0
    names = min(max((len(entry.name) for entry in found), default=0), 60)
    kinds = max((len(printable(entry.kind)) for entry in found), default=0)
    for entry in found:
        room = width - max(names, len(entry.name)) - kinds - 4
        description = printable(entry.description)
        if terminal:
            description = _shortened(description, room)
        kind = f"{printable(entry.kind):<{kinds}}"
        kind = click.style(kind, dim=True) if colour else kind
        sys.stdout.write(f"{printable(entry.name):<{names}}  {kind}  {description}".rstrip() + "\n")
    if terminal and len(found) > 1:
        say(f"{len(found)} found")


def _shortened(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[: room - 1].rstrip()}…" if room > LEAST_ROOM else ""
