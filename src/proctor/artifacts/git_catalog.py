"""Catalogs in a folder of a Git repository, pinned to a revision.

The revision is fetched once into the user's cache and read from there. Only JSON files are ever read; nothing that the
repository holds is run: no hooks, no submodules, no filters.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path, PurePosixPath

from proctor.artifacts.catalogs import LocalCatalog, register_catalog
from proctor.errors import ArtifactError
from proctor.settings import settings

_SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.fsmonitor=false",
    "-c", "submodule.recurse=false",
)  # fmt: skip
TIMEOUT_SECONDS = 300  # for one git command: a slow fetch of a large repository may take minutes, a dead one for ever


def git_catalog(url: str, revision: str, folder: str = "") -> LocalCatalog:
    """Return the catalog in a folder of a repository at a revision; it is fetched where the cache does not have it.

    Args:
        url: Whatever ``git fetch`` takes.
        revision: A commit, tag or branch. A commit or tag pins the catalog; a branch is fetched once as it is now.
        folder: The folder of the repository that holds the catalog.

    Raises:
        ArtifactError: git is missing, the repository cannot be reached, or there is no such revision or folder.
    """
    for name, text in (("url", url), ("revision", revision)):
        if not text or text.startswith("-"):
            raise ArtifactError(f"{text!r} is not the {name} of a repository")
    if ".." in PurePosixPath(folder).parts or PurePosixPath(folder).is_absolute():
        raise ArtifactError(f"the folder '{folder}' lies outside the repository")
    digest = sha256(f"{url}\x00{revision}".encode()).hexdigest()[:16]
    place = Path(settings.cache_dir) / "catalogs" / digest
    if not place.is_dir():
        _fetch(url, revision, place)
    catalog = LocalCatalog(place / folder, title=f"{url}@{revision}" + (f":{folder}" if folder else ""))
    if not catalog.folder.is_dir():
        raise ArtifactError(f"the repository {url} has no folder '{folder}' at {revision}")
    return catalog


def register_git_catalog(url: str, revision: str, folder: str = "") -> LocalCatalog:
    """Register :func:`git_catalog`; its artifacts are then known by name."""
    catalog = git_catalog(url, revision, folder)
    register_catalog(catalog)
    return catalog


def _fetch(url: str, revision: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=place.parent))
    try:
        for command in (
            ("init", "--quiet"),
            ("fetch", "--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules", url, revision),
            ("checkout", "--quiet", "--detach", "FETCH_HEAD"),
        ):
            _git(work, command, url, revision)
        shutil.rmtree(work / ".git")
        try:
            work.rename(place)
        except OSError:
            if not place.is_dir():  # another process was faster, or the cache cannot be written
                raise
    except OSError as error:
        raise ArtifactError(f"the catalog {url} cannot be kept in {place.parent}", why=str(error)) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _git(work: Path, command: tuple[str, ...], url: str, revision: str) -> None:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
    try:
        subprocess.run(  # noqa: S603 - arguments, not a shell; url and revision cannot be options
            ["git", *_SAFE, *command],  # noqa: S607 - the user's git
            cwd=work,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
        )
    except FileNotFoundError:
        raise ArtifactError("a catalog in a repository needs git, which is not installed") from None
    except subprocess.TimeoutExpired:
        raise ArtifactError(f"{url} did not answer within {TIMEOUT_SECONDS} s") from None
    except subprocess.CalledProcessError as error:
        raise ArtifactError(
            f"the revision '{revision}' of {url} cannot be fetched",
            why=str(error.stderr).strip().splitlines()[-1] if error.stderr else "",
            hint="check the address, the revision and the network",
        ) from None
