"""Files that could hold exams: those that are named and not there, and those beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from proctor.errors import UnknownArtifactError, did_you_mean

FILE_ENDINGS: Final = (".yaml", ".yml", ".json", ".jsonl", ".csv", ".tsv", ".ndjson", ".parquet", ".xlsx")


def fault_of_path(name: str) -> UnknownArtifactError | None:
    """Return the error about a name that is meant as a path; ``None`` where it is not."""
    path = Path(name.partition("::")[0].partition("@")[0])
    near = files_beside(path) if path.suffix else []
    if path.is_dir():
        inside = sorted(each.name for each in path.iterdir() if each.suffix in FILE_ENDINGS) or ["exam.yaml"]
        why = "it has no run.yaml, and a folder is not an exam by itself"
        hint = f"name a file in it: {path / inside[0]}"
        return UnknownArtifactError(f"the folder '{path}' holds no run and no exam", why=why, hint=hint)
    is_mistyped = any(path.stem == each.stem for each in near) and bool(did_you_mean(path.suffix, FILE_ENDINGS))
    if (path.suffix in FILE_ENDINGS or is_mistyped) and not path.is_file():
        return missing_file(path)
    if path.is_file() and path.suffix not in FILE_ENDINGS:
        return UnknownArtifactError(
            f"'{path}' is not a file that holds an exam",
            why=f"exams are read from {', '.join(FILE_ENDINGS)} and .py",
            hint="save a table as CSV, or its rows as JSON, one object a line (.jsonl)",
        )
    if "[" in name and not name.endswith("]"):
        why = "what changes an exam stands in brackets behind its name"
        return UnknownArtifactError(
            f"the bracket of '{name}' is not closed", why=why, hint=f"write '{name}]', in quotes"
        )
    if path.is_file() and "@" in name:
        hint = f"leave it out; --prompt changes what is asked of a table: proctor show {path} shows it"
        return UnknownArtifactError(f"'{path}' has no template '{name.rpartition('@')[2]}'", hint=hint)
    return None


def missing_file(path: Path) -> UnknownArtifactError:
    """Return the error about a file that is not there: what lies in its folder, and which of it may be meant."""
    near = files_beside(path)
    folder = path.parent.resolve()
    alike = [each for each in near if str(each).casefold() == str(path).casefold()]
    others = ", ".join(sorted(each.name for each in near)[:_FILES_SHOWN]) or "no file that could hold an exam"
    beside = "" if path.is_absolute() else f" in {Path.cwd()}"
    why = f"the folder {folder} has {others}" if folder.is_dir() else f"there is no folder '{path.parent}'{beside}"
    meant = f"did you mean '{alike[0]}'?" if alike else did_you_mean(str(path), map(str, near))
    hint = meant or "paths start at the folder that proctor is called in; proctor ls lists exams that have names"
    return UnknownArtifactError(f"there is no file '{path}'", why=why, hint=hint)


_FILES_SHOWN = 5  # of a folder that may have hundreds: enough to see whether it is the right one


def files_beside(path: Path) -> list[Path]:
    """Return the files that could hold exams in the folder of a file that is not there."""
    if not path.parent.is_dir():
        return []
    return [each for each in path.parent.iterdir() if each.suffix in FILE_ENDINGS]
