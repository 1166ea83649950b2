"""An exporter: what is written beside a run's own files."""

from pathlib import Path

from proctor.running import ExportedRun


def write_one_line(run: ExportedRun) -> list[Path]:
    """Write the main score of each exam, one a line; return the files."""
    path = (run.result.output or Path()) / "scores.txt"
    lines = [f"{name} {entry.get('score_name')} {entry.get('score')}" for name, entry in run.result.results.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return [path]
