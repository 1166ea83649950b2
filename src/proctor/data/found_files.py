"""Names of data resolved to files of this machine: paths, patterns and addresses, each real path through the gate.

Libraries follow what lies in a folder: links, patterns, addresses in cards, chains of addresses. So they never see a
name: here it becomes files, each asked for at the gate by its real place, and libraries get absolute paths, which none
of them takes for an address.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from proctor import foreign_text
from proctor.data.hub_access import is_local_only
from proctor.data.mapped_folder import local_file, place_of
from proctor.effects import Author, has_scheme, parts_of_address, reading, require
from proctor.errors import DataError, DatasetNotFoundError, did_you_mean, reason_of
from proctor.safe_files import subfolder, written
from proctor.settings import settings

_MAGIC = re.compile(r"[*?\[]")
_PARTS = re.compile(r"\*\*|\*|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)
_BESIDE_DATA = frozenset(
    {"README.md", "config.json", "dataset_info.json", "dataset_infos.json", "dummy_data.zip", "dataset_dict.json"}
)
"""Files that describe a dataset; a pattern finds them where it names them."""


def file_named(name: str | os.PathLike[str], who: Author | None = None, by: str = "") -> str:
    """Return the absolute path of a file; what a web address leads to is fetched.

    Args:
        name: A path, or an address of the web or of the hub.
        who: On whose behalf; ``None`` for the user.
        by: What reads it, for messages.

    Raises:
        NotAllowedError: Nobody allowed it.
        DatasetNotFoundError: It does not exist or cannot be reached.
        DataError: It is an address of another kind, or not an ordinary file.
    """
    text = os.fspath(name)
    text = str(local_file(text) or text)
    require(reading(text, who, by), who)
    if has_scheme(text):
        return _of_address(text, who, by)
    path = os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 - not the real one: its name says what it is
    try:
        foreign_text.check_regular(path)
    except FileNotFoundError:
        why = "" if Path(text).is_absolute() else f"the path starts at {Path.cwd()}"
        raise DatasetNotFoundError(f"there is no file {text}", why=why, hint=_near(text)) from None
    except OSError as error:
        raise DatasetNotFoundError(f"the file {text} cannot be read", why=reason_of(error)) from None
    return path


def beside(name: str, who: Author | None) -> str:
    """Return a relative path from the exam's own folder on, where it leads to nothing from the working folder."""
    if who is None or not who.folder or has_scheme(name) or Path(name).is_absolute() or Path(name).exists():
        return name
    found = Path(who.folder) / name
    return str(found) if found.is_file() else name


def _near(path: str) -> str:
    folder = Path(path).parent
    names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
    return did_you_mean(Path(path).name, names)


# -- addresses ----------------------------------------------------------------------------------------------------


def _of_address(address: str, who: Author | None, by: str) -> str:
    if len(parts_of_address(address)) > 1:
        raise DataError(
            f"'{address}' is a chain of addresses, which nothing here follows",
            hint="unpack the archive, and name the file in it",
        )
    scheme, _, rest = address.partition("://")
    if scheme.lower() in ("file", "local"):
        return file_named(rest, who, by)
    if scheme.lower() == "hf":
        return _of_hub(address, rest)
    if scheme.lower() in ("http", "https"):
        return _fetched(address, who, by)
    raise DataError(
        f"'{address}' cannot be read", why=f"addresses of '{scheme}' are not", hint="download the file, and name it"
    )


_HUB_FILE = re.compile(
    r"(?P<kind>datasets/|spaces/|)(?P<id>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^/]+))?/(?P<name>.+)", re.ASCII
)


def _of_hub(address: str, rest: str) -> str:
    from huggingface_hub import hf_hub_download

    match = _HUB_FILE.fullmatch(rest)
    if match is None or ".." in Path(match["name"]).parts:
        raise DataError(f"'{address}' is not a file of the hub", hint="hf://datasets/OWNER/NAME/FILE")
    kind = match["kind"].removesuffix("s/") or "model"
    try:
        local = is_local_only(match["id"])
        found = hf_hub_download(
            match["id"], match["name"], repo_type=kind, revision=match["revision"], local_files_only=local
        )
    except (OSError, ValueError) as error:
        why = (str(error).strip().splitlines() or [""])[0]
        raise DatasetNotFoundError(f"the file {address} cannot be read", why=why) from None
    return str(found)


def _fetched(address: str, who: Author | None, by: str) -> str:
    """Return a file of the web as it was when this process first asked for it on somebody's behalf."""
    from proctor.data import web

    folder = subfolder(Path(settings.cache_dir), "fetched", hashlib.sha256(address.encode()).hexdigest()[:32])
    target = folder / (re.sub(r"[^\w.-]", "_", place_of(address).rpartition("/")[2])[-100:].strip(".") or "index")
    if (settings.offline or (target, who) in _held) and target.is_file():
        return os.path.abspath(target)  # noqa: PTH100 - as above
    try:
        with web.opened(address, who, by) as response, written(target) as file:
            web.copy(response, file, source=address)
    except OSError as error:
        hint = f"put it at <folder>/{place_of(address)} and set PROCTOR_HUB_DIR=<folder>"
        raise DatasetNotFoundError(f"the file {address} cannot be read", why=reason_of(error), hint=hint) from None
    _held.add((target, who))
    return os.path.abspath(target)  # noqa: PTH100 - as above


_held: set[tuple[Path, Author | None]] = set()
"""What this process fetched, and for whom: another may not be led to where a redirect of the first went."""


# -- patterns -----------------------------------------------------------------------------------------------------


def files_named(name: str, base: Path, who: Author | None, by: str = "") -> list[str]:
    """Return the absolute paths of the files that a path, a pattern or an address names, if any.

    Args:
        name: Relative ones begin at ``base``. ``*`` and ``?`` stay within a folder, ``**`` does not; hidden files are
            found where the pattern names them.
        base: A folder.
        who: On whose behalf; ``None`` for the user.
        by: What reads them, for messages.

    Raises:
        NotAllowedError: Nobody allowed one of them.
        DataError: It is an address that cannot be read.
    """
    if has_scheme(name):
        return [file_named(name, who, by)]
    place = base / name
    if place.is_dir():
        place = place / "**"
    elif os.path.lexists(place) or not _MAGIC.search(name):
        return [file_named(place, who, by)] if place.exists() else []
    parts = place.parts
    plain = next((number for number, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    root = Path(*parts[:plain]) if not _MAGIC.search(str(base)) else base
    pattern = place.relative_to(root).as_posix()
    return [file_named(root / each, who, by) for each in matching(pattern, below(root, who, by))]


def matching(pattern: str, names: Iterable[str]) -> list[str]:
    """Return those of the paths below a folder that a pattern names."""
    fits = re.compile(_expression(pattern), re.DOTALL).fullmatch
    hidden = _hidden(pattern)
    passed = _BESIDE_DATA - {pattern.rpartition("/")[2]}
    return [each for each in names if fits(each) and _hidden(each) == hidden and each.rpartition("/")[2] not in passed]


def _hidden(path: str) -> int:
    """Return how many parts of a path are hidden, or are folders like ``__pycache__``."""
    parts = path.split("/")
    return sum(part.startswith(".") for part in parts) + sum(part.startswith("__") for part in parts[:-1])


def _expression(pattern: str) -> str:
    made = ""
    for part in _PARTS.findall(pattern.replace("**/", "\0")):
        if part == "\0":
            made += "(?:.+/)?"
        elif part in ("**", "*", "?"):
            made += {"**": ".+", "*": "[^/]*", "?": "[^/]"}[part]
        elif len(part) > 1:
            inside = part[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            made += f"[^/{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"
        else:
            made += re.escape(part)
    return made


def below(folder: Path, who: Author | None, by: str = "") -> list[str]:
    """Return the paths of all files below a folder, sorted; folders that are links are entered once.

    Raises:
        NotAllowedError: A link leads to a folder that nobody allowed.
    """
    return sorted(_below(folder, "", who, by, {os.path.realpath(folder)}))


def _below(folder: Path, prefix: str, who: Author | None, by: str, seen: set[str]) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        name = f"{prefix}{entry.name}"
        if not entry.is_dir():
            yield name
        elif not entry.is_symlink():
            yield from _below(Path(entry.path), f"{name}/", who, by, seen)
        elif (real := os.path.realpath(entry.path)) not in seen and not entry.name.startswith("."):
            seen.add(real)
            require(reading(entry.path, who, by), who)
            yield from _below(Path(entry.path), f"{name}/", who, by, seen)
