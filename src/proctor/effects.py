"""The one gate for effects: what an exam may do to the machine and the world, besides being an exam.

Reading a file of a stranger runs no code of it. What its parts may *do* is a question of its own: read files, write
them, ask servers, send a key of the environment, start programs. Whatever does one of these for an exam asks here
first (:func:`require`), and what an exam is going to do is known before it does it (``Exam.effects``), shown by
``proctor show`` and ``proctor validate``, and allowed once by the user:

* ``--allow net:api.example.org`` on the command line, ``PROCTOR_ALLOW`` or ``settings.allow`` for a while;
* an exam that was allowed something is remembered by its fingerprint, and asks again when it changes;
* ``--trust-code`` allows everything: code that runs could do it anyway.

What the user wrote himself needs no permission: an artifact that a program builds (``LoadFromAPI(urls=…)``), an engine
or a file that the command line names. What was read from a file, a catalog, a query or a web form has an
:class:`Author`, which :func:`written_by` hands to the artifacts that are built meanwhile.

The pages of a viewer (:func:`confined`) are stricter: whatever was allowed, they ask hubs and read below some folders.

Free for everybody: reading in the exam's own folder, in the working folder, in mapped hub folders and in caches;
the hubs and the few hosts where public data usually lies, without a key.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from proctor.errors import Diagnostic, NotAllowedError, SettingsError
from proctor.services import is_service, may_have, needs_https
from proctor.settings import model_folder, settings
from proctor.state import LOG_NAME, state_folder

Kind = Literal["hub", "read", "write", "net", "env", "run"]

KINDS: dict[str, str] = {
    "hub": "reads from the hub {}",
    "read": "reads {}",
    "write": "writes {}",
    "net": "asks {}",
    "env": "uses the environment variable {}",
    "run": "starts {}",
}
"""What each kind of effect does, for people; ``{}`` is its target."""

OWN_KEYS: dict[str, tuple[str, ...]] = {
    "HF_TOKEN": ("huggingface.co", "*.huggingface.co", "hf.co", "*.hf.co"),
    "HUGGING_FACE_HUB_TOKEN": ("huggingface.co", "*.huggingface.co", "hf.co", "*.hf.co"),
}
"""Variables whose value belongs to these hosts: it goes there without asking, and nowhere else."""

USUAL_HOSTS = frozenset(
    {
        "huggingface.co",
        "*.huggingface.co",
        "hf.co",
        "*.hf.co",
        "modelscope.cn",
        "*.modelscope.cn",
        "kaggle.com",
        "*.kaggle.com",
        "raw.githubusercontent.com",
        "github.com",
        "openaipublic.blob.core.windows.net",
        "opencompass.oss-cn-shanghai.aliyuncs.com",
        "ndownloader.figshare.com",
        "*.wikipedia.org",
    }
)
"""Hosts where the public data of exams lies: whoever publishes there cannot read who asks, and no key is sent."""

_IPV6 = re.compile(r"(?<=//)(?:[^/@]*@)?\[[0-9A-Fa-f:.%]*\]")
"""The host of an address where it is in brackets: the colons in it part nothing."""

CREDENTIALS = frozenset({"token", "stored_tokens", "kaggle.json", "access_token"})
"""Files in which programs keep what lets them in, without a dot before them."""

INSIDE = frozenset({"zip", "tar", "gzip", "bz2", "xz", "zstd", "memory"})
"""Schemes of places inside another file, which has an address of its own."""

_PORTS = re.compile(r":([0-9]{1,5})-([0-9]{1,5})$")
"""Several ports of a host, at the end of a permission."""
_MOST_PORTS = 1 << 16

_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}


class Effect(NamedTuple):
    """Something that an exam does besides being an exam.

    Attributes:
        kind: What it does.
        target: A dataset's id; an absolute path; a host, with its port where that is not the usual one; the name of a
            variable, with ``@host`` where its value is sent there; a program.
        by: What does it, for people: ``load_from_api``.
        is_optional: Whether it is left out where nobody allowed it, and whoever does it goes on: a key that a server
            may not need.
    """

    kind: Kind
    target: str
    by: str = ""
    is_optional: bool = False

    @property
    def grant(self) -> str:
        """The value of ``--allow`` that allows it."""
        return f"{self.kind}:{self.target}"

    def __str__(self) -> str:
        if self.kind == "env" and "@" in self.target:
            name, _, host = self.target.partition("@")
            return f"sends the environment variable {name} to {host}"
        return KINDS[self.kind].format(self.target)


class Author(NamedTuple):
    """The author of an effect, where it is not the user.

    Attributes:
        file: The file it was read from; empty for a query or a form.
        folder: The exam's own folder, in which it may read.
    """

    file: str = ""
    folder: str = ""


_NOBODY_SAID = Author("<nobody said>")
_author: ContextVar[Author | None] = ContextVar("proctor_author", default=_NOBODY_SAID)
_granted: set[str] = set()
_exam_folders: set[str] = set()
_ROWS = Author("a row")
_PAGE = Author("a page")
_confined: ContextVar[tuple[Path, ...] | None] = ContextVar("proctor_confined", default=None)
_guarded = False


@contextmanager
def written_by(author: Author | None) -> Iterator[None]:
    """Say who wrote what is built or done inside the block; ``None`` means the user."""
    token = _author.set(author)
    try:
        yield
    finally:
        _author.reset(token)


def author() -> Author | None:
    """Return the author of what is being built; ``None`` for the user's own program."""
    known = _author.get()
    return None if known is _NOBODY_SAID else known


def author_of_file(path: str | os.PathLike[str]) -> Author:
    """Return a file as the author of what stands in it; it may read in its own folder."""
    return Author(os.fspath(path), os.path.dirname(os.path.abspath(path)))  # noqa: PTH100, PTH120 - for every artifact


def author_of_text() -> Author | None:
    """Return the author of a text that is read without a file: a stranger, unless :func:`written_by` says more."""
    known = _author.get()
    return Author() if known is _NOBODY_SAID else known


@contextmanager
def session() -> Iterator[None]:
    """A command of the command line, or a viewer: what is allowed inside ends with it, and rows are strangers'.

    A program that hands rows to an engine wrote them, or knows where they come from.
    """
    global _guarded  # noqa: PLW0603 - a fact about the process
    before = set(_granted), set(_exam_folders), _guarded
    _guarded = True
    try:
        yield
    finally:
        _guarded = before[2]
        for current, earlier in ((_granted, before[0]), (_exam_folders, before[1])):
            current.clear()
            current.update(earlier)


@contextmanager
def confined(folders: Iterable[str | os.PathLike[str]]) -> Iterator[None]:
    """A page: nothing inside may do more than ask hubs and read below ``folders`` and the folders of settings.

    No permission counts here, neither one of the settings or the command line nor ``--trust-code``, and nothing is the
    user's own: whoever sent the request chose what is built. Links out of ``folders`` lead nowhere.
    """
    token = _confined.set(tuple(Path(each).expanduser().resolve() for each in folders))
    try:
        with written_by(_PAGE):
            yield
    finally:
        _confined.reset(token)


def is_confined() -> bool:
    """Whether what is done now is done for a page; see :func:`confined`."""
    return _confined.get() is not None


def author_of_rows() -> Author | None:
    """Return on whose behalf something is done that a row names: a picture, a database."""
    return _ROWS if _guarded or is_confined() else None


def open_folder(path: str | os.PathLike[str]) -> None:
    """Say that an exam lies in a folder (or file): what lies beside it may be read."""
    found = Path(path).expanduser().resolve()
    _exam_folders.add(str(found if found.is_dir() else found.parent))


# -- what is allowed ------------------------------------------------------------------------------------------


def parse_grant(text: str) -> str:
    """Return a grant as it is kept: ``kind:pattern``, paths made absolute.

    Raises:
        SettingsError: It is not one.
    """
    kind, colon, pattern = text.strip().partition(":")
    if not colon or not pattern or kind not in KINDS:
        raise SettingsError(
            f"'{text}' allows nothing",
            why="a permission is a kind and what it is for",
            hint="net:HOST, read:PATH, write:FOLDER, env:NAME@HOST or run:PROGRAM, as the refusal says",
        )
    if kind in ("read", "write"):
        pattern = str(Path(pattern).expanduser().resolve())
    if kind == "net" and (found := _PORTS.search(pattern)) and not 0 < int(found[1]) <= int(found[2]) < _MOST_PORTS:
        raise SettingsError(f"'{text}' names ports that there are not", hint="net:HOST:8000-8099: from the lower one")
    return f"{kind}:{pattern}"


def grants() -> frozenset[str]:
    """Return the user's permissions: for this process and in the settings."""
    named = (parse_grant(each) for each in str(settings.allow or "").replace(",", " ").split())
    return frozenset(_granted.union(named))


def grant(*texts: str) -> None:
    """Allow effects until the process ends."""
    _granted.update(map(parse_grant, texts))


def is_allowed(effect: Effect, given: Iterable[str] | None = None) -> bool:
    """Whether something may be done for an exam of somebody else.

    Args:
        effect: What.
        given: What was allowed, by default everything that :func:`grants` returns.
    """
    if effect.kind == "hub":
        return True
    if is_confined():
        return effect.kind == "env" and _is_own_key(effect.target)
    if settings.trust_code:
        return True
    if effect.kind == "net" and (_is_usual(effect.target) or is_service(effect.target)):
        return True
    if effect.kind == "env" and _is_own_key(effect.target):
        return True
    return any(_covers(each, effect) for each in (grants() if given is None else given))


def _is_usual(host: str) -> bool:
    return any(fnmatchcase(host, usual) for usual in USUAL_HOSTS)


def _is_own_key(target: str) -> bool:
    """Whether the value of a variable goes to a host that it belongs to."""
    name, _, host = target.partition("@")
    return any(fnmatchcase(host, own) for own in OWN_KEYS.get(name, ())) or may_have(name, host)


def _covers(given: str, effect: Effect) -> bool:
    kind, _, pattern = given.partition(":")
    if kind != effect.kind:
        return False
    if kind in ("read", "write"):
        return Path(effect.target).is_relative_to(pattern)
    if kind == "net" and _PORTS.search(pattern):
        host, _, port = effect.target.rpartition(":")
        return (
            port.isdecimal()
            and int(port) in ports_of(pattern)
            and _covers(f"net:{_PORTS.sub('', pattern)}", Effect("net", host))
        )
    return fnmatchcase(effect.target, pattern.replace("[", "[[]"))  # brackets are those of IPv6


def is_granted(effect: Effect) -> bool:
    """Whether :func:`grant` allowed something: for this process, and not in the settings."""
    return any(_covers(each, effect) for each in _granted)


def missing(effects: Iterable[Effect], given: Iterable[str] | None = None) -> list[Effect]:
    """Return the effects that nobody allowed, each once."""
    known = grants() if given is None else frozenset(given)
    return [each for each in dict.fromkeys(effects) if not is_allowed(each, known)]


def refusals(effects: Iterable[Effect], who: Author | None = None, exam: str = "") -> list[Diagnostic]:
    """Return a diagnostic for each effect that nobody allowed.

    Args:
        effects: What is about to be done.
        who: Who wrote what would do it.
        exam: The exam's name, where it is known.
    """
    found = missing(effects)
    if all(each.is_optional for each in found):
        return []
    return [
        Diagnostic(
            f"{f'{exam!r}: ' if exam else ''}{each.by or 'the exam'} {each}: nobody allowed that",
            path=(who.file if who else ""),
            why=_WHY_NO_PAGE if is_confined() else _WHY,
            hint=f"{_hint_before()}--allow {each.grant}, or PROCTOR_ALLOW={each.grant}, if you want it to"
            + ("; without, the server is asked without the key" if each.is_optional else "")
            + (f"; it may write below {own}" if each.kind == "write" and (own := own_folder(who)) else ""),
        )
        for each in found
    ]


_WHY = "a file that is read may do nothing but be an exam, unless you say so"
_WHY_NO_PAGE = "pages ask hubs and read below the folders that proctor view was started with, whatever is allowed"


def _hint_before() -> str:
    return "look at it with proctor show, and " if is_confined() else ""


def require(effects: Iterable[Effect], who: Author | None) -> None:
    """Let effects pass, or refuse them: called directly before they happen.

    Args:
        effects: What is about to be done.
        who: On whose behalf; ``None`` is the user himself, who may do anything.

    Raises:
        NotAllowedError: Nobody allowed one of them; with all of them.
    """
    if who is None and not is_confined():
        return
    if found := refusals(effects, who):
        raise NotAllowedError(found)


# -- effects by what they touch -------------------------------------------------------------------------------


def described(effects: Iterable[Effect]) -> str:
    """Return a line for people: ``reads from the hub glue · asks api.example.org, with TOKEN (not allowed)``."""
    found = list(dict.fromkeys(effects))
    keys: dict[str, list[str]] = {}
    for each in found:
        if each.kind == "env" and "@" in each.target:
            name, _, host = each.target.partition("@")
            keys.setdefault(host, []).append(name)
    lines = []
    for each in found:
        with_keys = keys.get(each.target, ()) if each.kind == "net" else ()
        if each.kind == "env" and any(
            net.kind == "net" and net.target == each.target.partition("@")[2] for net in found
        ):
            continue
        belonging = [each, *(Effect("env", f"{name}@{each.target}") for name in with_keys)]
        note = "" if not missing(belonging) else " (not allowed)"
        lines.append(f"{each}{', with ' + ', '.join(with_keys) if with_keys else ''}{note}")
    return " · ".join(lines)


def host_of(url: str) -> str:
    """Return the host of an address in small letters, with its port where that is not the usual one.

    Raises:
        NotAllowedError: The address has no host, or no port that could be one.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        host, port = "", None
    if not host:
        raise NotAllowedError(f"'{url}' is not an address of a server")
    if ":" in host:  # IPv6, as it stands in addresses: its end and the port's begin are otherwise not to be told
        host = f"[{host}]"
    return host if port in (None, _DEFAULT_PORTS.get(parts.scheme)) else f"{host}:{port}"


def port_of(target: str) -> int:
    """Return the port of a host as :func:`host_of` names it; 443 where it names none."""
    port = target.rpartition(":")[2]
    return int(port) if port.isdecimal() else _DEFAULT_PORTS["https"]


def ports_of(pattern: str) -> range:
    """Return the ports of a permission to ask hosts: ``node*:8000-8099`` has a hundred, others one."""
    found = _PORTS.search(pattern)
    return range(int(found[1]), int(found[2]) + 1) if found else range(port_of(pattern), port_of(pattern) + 1)


def asking(url: str, by: str = "", keys: Iterable[str | None] = ()) -> list[Effect]:
    """Return the effects of asking a server: the request, and each environment variable that is sent along.

    A key that belongs to a host belongs to it by https: sent in the open it could be read by anybody on the way.
    """
    host = host_of(url)
    sent = [Effect("env", f"{name}@{host}", by) for name in keys if name]
    if urlsplit(url).scheme == "http" and needs_https(host):
        sent = [Effect("env", f"{each.target}:80", by) for each in sent]
    return [Effect("net", host, by), *sent]


def reading(path: str | os.PathLike[str], who: Author | None, by: str = "") -> list[Effect]:
    """Return the effect of reading a file or folder, or an address; none where everybody may read."""
    text = os.fspath(path)
    if has_scheme(text):
        return [effect for part in parts_of_address(text) for effect in _reading_address(part, who, by)]
    place = Path(text).expanduser()
    target = place.resolve()
    if target.name not in CREDENTIALS and not _is_state(target):
        if any(_is_shown(target, root) for root in _own_folders(who)):
            return []
        named = Path(os.path.abspath(place))  # noqa: PTH100 - as it is written, to see where its links stand
        if any(_is_named(named, target, root) for root in named_folders()):
            return []
    return [_on("read", target, by)]


def _is_state(target: Path) -> bool:
    """Whether a file is of the user's state, answers of other exams among it; fetched packages are for all to read."""
    state = state_folder().resolve()
    if target.is_relative_to(state):
        return not target.is_relative_to(state / "packages")
    return target.name.startswith(LOG_NAME) and target.parent == Path(settings.cache_dir).resolve()


def has_scheme(text: str) -> bool:
    """Whether a text is an address: ``https://…``, or one inside another (``zip://a.csv::b.zip``)."""
    return "://" in text


def parts_of_address(text: str) -> list[str]:
    """Return the addresses that stand inside one another, the innermost first."""
    return [each.replace("\0", "::") for each in _IPV6.sub(lambda host: host[0].replace("::", "\0"), text).split("::")]


def _is_named(named: Path, target: Path, root: Path) -> bool:
    """Whether a file lies below a folder that the user named.

    He orders it himself, by ``name`` or ``owner/name``, with links where he likes; links further down may have come
    with what lies there.
    """
    if target.is_relative_to(root.resolve()):
        return True
    if not named.is_relative_to(root):
        return False
    parts = named.relative_to(root).parts
    first, second = (root.joinpath(*parts[:level]) for level in (1, 2))
    if not first.is_dir():
        return False
    is_owner = second.is_dir() and all(each.is_dir() for each in first.iterdir())
    return any(target.is_relative_to(each.resolve()) for each in (first, second)[: 1 + is_owner])


def _reading_address(address: str, who: Author | None, by: str) -> list[Effect]:
    """Return the effects of one part of an address as fsspec takes it: ``zip://a.csv::https://host/x.zip``."""
    scheme, separator, rest = address.partition("://")
    scheme = scheme.lower()
    if not separator or scheme in ("file", "local"):
        return reading(rest or address, who, by)
    if scheme in ("http", "https", "ftp"):
        return asking(address, by)
    if scheme in INSIDE:
        return []
    return [Effect("hub", rest, by)] if scheme == "hf" else [Effect("net", f"{scheme}://{rest.partition('/')[0]}", by)]


def loading(model: str, who: Author | None, by: str = "") -> list[Effect]:
    """Return the effects of loading a model or a tokenizer: reading its folder, or the hub."""
    place = model_folder(model)
    if place is None and not Path(model).expanduser().exists():
        return [Effect("hub", model, by)]
    return reading(place or model, who, by)


def writing(path: str | os.PathLike[str], who: Author | None, by: str = "") -> list[Effect]:
    """Return the effect of writing a file or folder; none in the folder of the cache that is the exam's own."""
    target, own = Path(path).expanduser().resolve(), own_folder(who)
    return [] if own is not None and target.is_relative_to(own.resolve()) else [_on("write", target, by)]


def own_folder(who: Author | None) -> Path | None:
    """Return the folder of the cache in which an exam may write; ``None`` where it has no file that tells it apart."""
    if who is None or not who.file:
        return None
    file = Path(who.file).resolve()
    return Path(settings.cache_dir) / "exams" / f"{file.stem}-{hashlib.sha256(os.fsencode(file)).hexdigest()[:8]}"


def writing_results(path: str | os.PathLike[str], who: Author, by: str = "") -> list[Effect]:
    """Return the effect of writing results where a file says; none below the working folder and the file's own.

    What is hidden there (``.git``) belongs to other programs.
    """
    target = Path(path).expanduser().resolve()
    own = (Path.cwd(), Path(who.folder).resolve())
    return [] if any(_is_shown(target, root) for root in own) else writing(path, who, by)


def _on(kind: Kind, target: Path, by: str) -> Effect:
    return Effect(kind, str(target), by)


def _is_shown(target: Path, root: Path) -> bool:
    """Whether a file lies below a folder, and is not hidden there: keys and settings of other programs lie there."""
    return target.is_relative_to(root) and not any(part.startswith(".") for part in target.relative_to(root).parts)


def _own_folders(who: Author | None) -> Iterator[Path]:
    """Yield the working folder, and those of exams; for a page the folders that it is confined to."""
    if (folders := _confined.get()) is not None:
        yield from folders
        return
    yield Path.cwd()
    yield from map(Path, _exam_folders)
    if who is not None and who.folder:
        yield Path(who.folder).resolve()


def named_folders() -> Iterator[Path]:
    """Yield the folders that the user named as those of data, of models and of catalogs; and the package's own."""
    yield Path(__file__).resolve().parent
    yield state_folder() / "packages"
    lists = (str(value or "") for value in (settings.catalogs, settings.config_dirs))
    folders = (settings.hub_dir, settings.models_dir, settings.cache_dir)
    texts = (*(each for text in lists for each in text.split(":")), *map(str, filter(None, folders)), *_variables())
    yield from (Path(os.path.abspath(Path(text).expanduser())) for text in texts if text)  # noqa: PTH100 - as above


_DATA_VARIABLES = (
    "HF_HOME",
    "HF_DATASETS_CACHE",
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "COMPASS_DATA_CACHE",
    "AIS_BENCH_DATASETS_CACHE",
    "UNITXT_CACHE_LOCATION",
    "UNITXT_CATALOGS",
)
"""Variables with which users say where data of exams lies; what is below is theirs to read."""


def _variables() -> Iterator[str]:
    home = Path.home()
    yield from (str(home / ".cache" / name) for name in ("huggingface", "opencompass"))
    for name in _DATA_VARIABLES:
        yield from (each for each in os.environ.get(name, "").split(":") if each)
