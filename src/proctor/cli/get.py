"""``proctor get``: the exams of other systems, from the packages that they publish."""

from __future__ import annotations

import hashlib
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo

import click

from proctor.cli.commands import ProctorCommand
from proctor.cli.completion import one_of
from proctor.cli.error_reporting import say, warn
from proctor.errors import DatasetNotFoundError, UsageError, did_you_mean
from proctor.packages import COLLECTIONS, Collection, fetched, file_package, package_folder, packages_folder
from proctor.safe_files import write_bytes
from proctor.state import made_state_folder

MOST_BYTES = 1 << 30
"""Bytes that a package unpacks to: the largest of them, Unitxt, has 60 MB."""

_COMPILED = frozenset({".so", ".pyd", ".dll", ".dylib", ".exe", ".pyc"})
"""Endings of what is not kept: nothing of a package is run, and no exam is written in them."""

_TIMEOUT_SECONDS = 600
_LAST_LINES = 3  # of what pip says when it fails; the reason is at the end


@click.command("get", cls=ProctorCommand)
@click.argument("name", required=False, shell_complete=one_of(lambda: COLLECTIONS))
@click.argument("version", required=False)
def command(name: str | None, version: str | None) -> None:
    """Fetch the exams of another system: lm-eval, opencompass, ais-bench or unitxt.

    The released package is taken by pip, alone, and kept in the cache; nothing of it is installed, imported or run.
    Without a name: what there is, and what is here.
    """
    if name is None:
        for each in COLLECTIONS.values():
            click.echo(f"{each.name:12} {_state(each)}")
        return
    found = _collection(name)
    folder, about = fetch(found, version)
    say(f"{found.name} {about['version']}: {about['files']} files, sha256 {about['sha256'][:16]}…, in {folder}")
    say(f"proctor ls lists {found.what}, and proctor run --tasks NAME runs them")
    if (other := package_folder(found.module)) is not None and not other.is_relative_to(packages_folder()):
        warn(f"warning: '{found.package}' is installed, too, and comes first: {other}")


def _collection(name: str) -> Collection:
    plain = name.lower().replace("_", "-")
    for each in COLLECTIONS.values():
        if plain in (each.name, each.package.replace("_", "-"), each.module.replace("_", "-")):
            return each
    hint = did_you_mean(name, COLLECTIONS) or f"there are {', '.join(COLLECTIONS)}"
    raise UsageError(f"there is no collection of exams '{name}'", hint=hint)


def _state(collection: Collection) -> str:
    """Return a line on where a collection is."""
    about, folder = fetched(collection.module), package_folder(collection.module)
    if folder is not None and not folder.is_relative_to(packages_folder()):
        return f"{collection.what}: installed, in {folder}"
    if about is not None:
        return f"{collection.what}: {about['version']}, sha256 {str(about.get('sha256'))[:16]}…, in {folder}"
    return f"{collection.what}: proctor get {collection.name}"


def fetch(collection: Collection, version: str | None = None) -> tuple[Path, dict[str, Any]]:
    """Fetch a package into the user's state and return its folder, with what is known of it.

    Raises:
        UsageError: pip is not there.
        DatasetNotFoundError: pip cannot get it, or it is not what it should be.
    """
    with TemporaryDirectory(prefix="proctor-get-") as place:
        wheel = _download(collection, version, Path(place))
        data = wheel.read_bytes()
        about: dict[str, Any] = {
            "package": collection.package,
            "version": wheel.name.split("-")[1],
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        made_state_folder()
        target = packages_folder() / collection.module / str(about["version"])
        if target.exists():
            shutil.rmtree(target)
        about["files"] = _unpack(wheel, collection, target)
    file_package(target.parent, about)
    return target / collection.module, about


def _download(collection: Collection, version: str | None, place: Path) -> Path:
    """Return the wheel that pip downloads; source packages would run code of theirs, and are not taken."""
    if find_spec("pip") is None:
        raise UsageError("pip is not installed here", hint=f"{shlex.quote(sys.executable)} -m ensurepip installs it")
    wanted = collection.package + (f"=={version}" if version else "")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "--no-input"]
    command += ["--ignore-requires-python", "--disable-pip-version-check", "--quiet", "--dest", str(place), wanted]
    say(f"pip downloads {wanted} …")
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT_SECONDS)  # noqa: S603 - pip, with a name of our own table
    except subprocess.TimeoutExpired:
        raise DatasetNotFoundError(f"pip did not get {wanted} within {_TIMEOUT_SECONDS} s") from None
    wheels = sorted(place.glob("*.whl"))
    if done.returncode or not wheels:
        why = _said_by_pip(done.stderr) or f"pip ended with {done.returncode}"
        raise DatasetNotFoundError(
            f"pip cannot get {wanted}",
            why=why,
            hint="without a network: proctor get takes what pip finds, so PIP_FIND_LINKS=FOLDER or PIP_INDEX_URL work; "
            "a checkout works as it is, with --include-path",
        )
    return wheels[0]


def _said_by_pip(text: str) -> str:
    """Return the last of what pip says went wrong; its warnings are about other things."""
    lines = [line.removeprefix("ERROR: ") for line in text.strip().splitlines() if not line.startswith("WARNING:")]
    return " ".join(lines[-_LAST_LINES:])


def _unpack(wheel: Path, collection: Collection, target: Path) -> int:
    """Write the files of a wheel that belong to the package, and return how many they are."""
    try:
        with ZipFile(wheel) as archive:
            members = list(_members(archive, collection))
            if sum(each.file_size for each in members) > MOST_BYTES:
                raise DatasetNotFoundError(f"{wheel.name} unpacks to more than {MOST_BYTES >> 20} MiB")
            if not any(each.filename.startswith(f"{collection.module}/{collection.below}/") for each in members):
                raise DatasetNotFoundError(f"{wheel.name} has no {collection.module}/{collection.below}")
            for each in members:
                path = target / each.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(path, archive.read(each))
    except BadZipFile as error:
        raise DatasetNotFoundError(f"{wheel.name} is not a wheel", why=str(error)) from None
    return len(members)


def _members(archive: ZipFile, collection: Collection) -> Iterator[ZipInfo]:
    """Yield the files below the package's folder, none of which leads out of it."""
    for each in archive.infolist():
        path = PurePosixPath(each.filename)
        inside = path.parts[:1] == (collection.module,) and ".." not in path.parts
        if inside and not each.is_dir() and path.suffix.lower() not in _COMPILED:
            yield each
