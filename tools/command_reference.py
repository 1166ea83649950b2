"""Write ``docs/reference/commands.md``: what ``proctor --help`` says, for every command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

TARGET = Path(__file__).resolve().parent.parent / "docs" / "reference" / "commands.md"


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

    TARGET.parent.mkdir(parents=True, exist_ok=True)
    TARGET.write_text("# Command line\n\n" + "\n".join(sections(proctor, "proctor")), encoding="utf-8")


if __name__ == "__main__":
    main()
