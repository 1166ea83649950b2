"""Write ``docs/reference/commands.md`` (the help of every command) and ``options.md`` (what options do to exams)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

REFERENCE = Path(__file__).resolve().parent.parent / "docs" / "reference"
NAMES = {
    "unitxt": "recipes", "lm_eval": "YAML tasks", "class": "Python class tasks", "aisbench": "configs",
    "hub_yaml": "eval.yaml", "promptfoo": "configs of promptfoo", "tables": "tables",
}  # fmt: skip
"""How people call the kinds of exams."""


def matrix() -> Iterator[str]:
    """Yield what options do to exams: for each option a line for each kind of exams."""
    from proctor.recipes.option import DEPENDS, KINDS, Refused
    from proctor.recipes.options import DECLARED, OPTIONS

    yield "# What options do to exams\n\nOf what depends on the exam, `proctor run` says the reason before it asks.\n"
    for name in OPTIONS:
        option = DECLARED[name]
        spelled = f"`{option.flags[0]}`" if option.flags else f"`{name}`"
        yield f"## {spelled}\n\n{option.help}\n\n| exams | |\n|---|---|"
        for kind in KINDS:
            entry = option.at(kind)
            if entry is DEPENDS:
                said = "depends on the exam"
            else:
                said = f"refused: {entry.why}; {entry.hint}" if isinstance(entry, Refused) else entry.how or "works"
            yield f"| {NAMES[kind]} | {said} |".replace("|FILE", "\\|FILE")
        yield ""


def sections(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[str]:
    """Yield a section for a command and for each below it."""
    context = click.Context(command, info_name=name, parent=parent, max_content_width=100, terminal_width=100)
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context).strip()}\n```\n"
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            if (found := command.get_command(context, each)) is not None:
                yield from sections(found, each, context)


def main() -> None:
    """Write the file."""
    from proctor.cli.__main__ import proctor

    REFERENCE.mkdir(parents=True, exist_ok=True)
    commands = "# Command line\n\n" + "\n".join(sections(proctor, "proctor"))
    (REFERENCE / "commands.md").write_text(commands, encoding="utf-8")
    (REFERENCE / "options.md").write_text("\n".join(matrix()), encoding="utf-8")


if __name__ == "__main__":
    main()
