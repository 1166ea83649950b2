"""Catalogs in a folder of a Git repository, pinned to a revision.

The revision is fetched once into the user's cache and read from there. Only JSON files are taken out of it, as plain
files: nothing is checked out, so no hooks, filters, submodules and links of the repository come into it. What the
user's program names may be fetched from anywhere; for a file, starting git and asking the server pass the gate.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from proctor.artifacts.catalogs import LocalCatalog, register_catalog
from proctor.effects import Author, Effect, asking, reading, require
from proctor.effects import author as current_author
from proctor.errors import ArtifactError, reason_of
from proctor.safe_files import subfolder, write_bytes
from proctor.settings import settings
from proctor.starter import Popen, run

_SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.fsmonitor=false",
    "-c", "submodule.recurse=false",
    "-c", "fetch.recurseSubmodules=false",
    "-c", "fetch.unpackLimit=1",
    "-c", "transfer.bundleURI=false",
    "-c", "init.templateDir=",
    "-c", "maintenance.auto=false",
)  # fmt: skip
_SCHEMES: Final = {"https": "https", "http": "http", "ssh": "ssh", "git+ssh": "ssh", "git": "git", "file": "file"}
"""How repositories are reached, and what git calls it. Other schemes name programs (``ext::``, ``fd::`` …)."""

_FOREIGN = (
    "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_TEMPLATE_DIR",
)  # fmt: skip
"""Variables that git sets for hooks: with them another repository would be meant."""

_SCP = re.compile(r"[^/:\s]+:.*", re.DOTALL)
_OPTION = re.compile(r"^-|[@/]-|[\x00-\x1f\x7f]")
"""What ssh, or a program beside it, could take for an option; and what no address has."""

_LARGEST_BYTES = 16 << 20
"""Bytes of one artifact: the largest that are known, with their rows in them, have a tenth."""

_MOST_BYTES = 1 << 29
_MOST_FILES = 200_000
"""Bytes and files of a catalog: Unitxt's has 4,000 files."""

TIMEOUT_SECONDS = 300  # for one git command: a slow fetch of a large repository may take minutes, a dead one for ever


def git_catalog(url: str, revision: str, folder: str = "") -> LocalCatalog:
    """Return the catalog in a folder of a repository at a revision; it is fetched where the cache does not have it.

    Args:
        url: An address (``https``, ``http``, ``ssh``, ``git``, ``file``, ``host:path``) or the path of a repository.
        revision: A commit, tag or branch. A commit or tag pins the catalog; a branch is fetched once as it is now.
        folder: The folder of the repository that holds the catalog.

    Raises:
        ArtifactError: git is missing, the repository cannot be reached, or there is no such revision or folder.
        NotAllowedError: It is done for a file of somebody else, and nobody allowed it.
    """
    for name, text in (("url", url), ("revision", revision)):
        if not text or _OPTION.search(text) or (name == "revision" and ":" in text):
            raise ArtifactError(f"{text!r} is not the {name} of a repository")
    if ".." in PurePosixPath(folder).parts or PurePosixPath(folder).is_absolute():
        raise ArtifactError(f"the folder '{folder}' lies outside the repository")
    require(_effects(url, current_author()), current_author())
    digest = sha256(f"{url}\x00{revision}\x00{_LAYOUT}".encode()).hexdigest()[:16]
    place = Path(settings.cache_dir) / "catalogs" / digest
    if not place.is_dir():
        _fetch(url, revision, place)
    catalog = LocalCatalog(place / folder, title=f"{url}@{revision}" + (f":{folder}" if folder else ""))
    if not catalog.folder.is_dir():
        raise ArtifactError(f"the repository {url} has no folder '{folder}' at {revision}")
    return catalog


_LAYOUT = 2  # what a folder in the cache holds; earlier ones were checked out


def register_git_catalog(url: str, revision: str, folder: str = "") -> LocalCatalog:
    """Register :func:`git_catalog`; its artifacts are then known by name."""
    catalog = git_catalog(url, revision, folder)
    register_catalog(catalog)
    return catalog


def _effects(url: str, who: Author | None) -> Iterable[Effect]:
    """Return what fetching does: git runs, and a server is asked or a folder read."""
    git = Effect("run", "git", "a catalog")
    scheme, separator, rest = url.partition("://")
    if separator:
        if scheme not in _SCHEMES:
            raise ArtifactError(f"{url!r} is not the url of a repository", why=f"nothing is fetched through '{scheme}'")
        return [git, *(reading(rest, who, "a catalog") if scheme == "file" else asking(url, "a catalog"))]
    if "::" in url:
        raise ArtifactError(f"{url!r} is not the url of a repository", why="it names a program")
    if _is_path(url):
        return [git, *reading(url, who, "a catalog")]
    return [git, *asking(f"ssh://{url.partition(':')[0]}", "a catalog")]


def _fetch(url: str, revision: str, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(dir=place.parent))
    try:
        repository, files = work / "repository", work / "files"
        repository.mkdir()
        files.mkdir()
        with closing(_Git(repository, url, revision)) as git:
            git.run("init", "--quiet", "--bare", ".")
            here = str(Path(url).expanduser().absolute()) if _is_path(url) else url  # git runs in another folder
            options = ("--quiet", "--depth", "1", "--no-tags", "--no-recurse-submodules")
            git.run(*_redirects(), "fetch", *options, "--", here, revision)
            _take_out(git, files)
        try:
            files.rename(place)
        except OSError:
            if not place.is_dir():  # another process was faster, or the cache cannot be written
                raise
    except OSError as error:
        raise ArtifactError(f"the catalog {url} cannot be kept in {place.parent}", why=reason_of(error)) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _redirects() -> tuple[str, ...]:
    """Return what keeps git at the server that was allowed, where it is asked for a file of somebody else."""
    return () if current_author() is None else ("-c", "http.followRedirects=false")


def _is_path(url: str) -> bool:
    return "://" not in url and (Path(url).exists() or not _SCP.fullmatch(url))


def _take_out(git: _Git, folder: Path) -> None:
    """Write the JSON files of what was fetched into a folder."""
    total = count = 0
    for size, digest, name in _json_files(git.run("ls-tree", "-r", "-l", "-z", "--full-tree", "FETCH_HEAD")):
        count, total = count + 1, total + size
        if count > _MOST_FILES or total > _MOST_BYTES or size > _LARGEST_BYTES:
            why = (
                f"it has more than {_MOST_FILES:,} artifacts, {_MOST_BYTES >> 20} MiB, or {_LARGEST_BYTES >> 20} in one"
            )
            raise ArtifactError(f"the repository {git.url} is too large for a catalog", why=why)
        target = subfolder(folder, *name.parts[:-1]) / name.name
        write_bytes(target, git.blob(digest))


def _json_files(listing: bytes) -> Iterator[tuple[int, str, PurePosixPath]]:
    """Yield size, digest and path of the ordinary JSON files in what ``git ls-tree -r -l -z`` lists."""
    for entry in listing.split(b"\x00"):
        about, _, name = entry.partition(b"\t")
        path = PurePosixPath(os.fsdecode(name))
        if not about or path.suffix != ".json" or path.is_absolute() or ".." in path.parts:
            continue
        mode, kind, digest, size = about.decode().split()
        if kind == "blob" and mode.startswith("100"):  # not a link (120000), not a submodule (160000)
            yield int(size), digest, path


class _Git:
    """git in one repository, for one address."""

    def __init__(self, work: Path, url: str, revision: str) -> None:
        self._work = work
        self._reader: Popen | None = None
        self.url = url
        self._revision = revision

    def run(self, *command: str) -> bytes:
        """Run a command; return what it prints."""
        try:
            words = ["git", *_SAFE, *command]  # not for a shell; url and revision cannot be options
            printed: bytes = run(words, cwd=self._work, env=_environment(), timeout=TIMEOUT_SECONDS).stdout
        except FileNotFoundError:
            raise ArtifactError("a catalog in a repository needs git, which is not installed") from None
        except subprocess.TimeoutExpired:
            raise ArtifactError(f"{self.url} did not answer within {TIMEOUT_SECONDS} s") from None
        except subprocess.CalledProcessError as error:
            said = error.stderr.decode("utf-8", "replace").strip().splitlines()
            raise ArtifactError(
                f"the revision '{self._revision}' of {self.url} cannot be fetched",
                why=said[-1] if said else "",
                hint="check the address, the revision and the network",
            ) from None
        return printed

    def blob(self, digest: str) -> bytes:
        """Return a file as the repository holds it, through no filter."""
        if self._reader is None:
            self._reader = Popen(
                ["git", *_SAFE, "cat-file", "--batch"],
                cwd=self._work,
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        given, taken = self._reader.stdin, self._reader.stdout
        if given is None or taken is None:
            raise ArtifactError("git cannot be read from")
        given.write(f"{digest}\n".encode())
        given.flush()
        head = taken.readline().split()
        if len(head) != 3 or head[1] != b"blob":  # noqa: PLR2004 - digest, kind, size
            raise ArtifactError(f"the repository {self.url} is damaged", why=f"it does not hold {digest}")
        return bytes(taken.read(int(head[2]) + 1)[:-1])

    def close(self) -> None:
        """End the process that reads files."""
        if self._reader is not None:
            self._reader.communicate()
            self._reader = None


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    allowed = ":".join(dict.fromkeys(_SCHEMES.values()))
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": allowed, "GIT_NO_LAZY_FETCH": "1"}
