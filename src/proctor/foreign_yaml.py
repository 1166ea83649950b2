"""YAML of strangers, within bounds: size, depth, and how large aliases and merges make it.

What PyYAML reads, it gives; what PyYAML takes for ever over, ends the process with, or raises anything but its own
errors for (``!!int x``, ``2001-99-99``, ``[[[[…``) is a :class:`yaml.MarkedYAMLError` with its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, ClassVar

import yaml

from proctor.errors import Location

MOST_BYTES = 4 << 20
"""Bytes of a file; the largest task file of lm-evaluation-harness has 63 kB."""

MOST_NODES = 50_000
"""Parts of a file; reading takes ten microseconds for each. The largest task file has some hundred."""

MOST_EXPANDED = 200_000
"""Parts that a file has when each alias is written out, a text counting one for each 64 letters."""

DEEPEST = 100
"""Levels of lists and mappings; the C library recurses, and ends the process some ten thousand deep."""

_WITHOUT_LOOK = 1 << 16
"""Bytes of which reading takes less than half a second, whatever they are."""

_NESTED_ON_A_LINE = re.compile(rb"(?:[-?:][ \t]+){50}")
_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BoundedLoader(_Base):  # type: ignore[misc]
    """PyYAML's safe loader with bounds, and with its own errors for values that are none.

    Args:
        content: The YAML.

    Raises:
        yaml.MarkedYAMLError: It is too large or nested too deep.
    """

    most_bytes = MOST_BYTES
    most_nodes = MOST_NODES
    most_expanded = MOST_EXPANDED

    def __init__(self, content: str | bytes) -> None:
        data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        _look_over(data, self.most_bytes, self.most_nodes)
        self._may_grow = b"*" in data or len(data) <= _WITHOUT_LOOK  # others are as deep and large as they were seen
        super().__init__(content)

    def get_single_node(self) -> Any:
        """Return the only document's root, its aliases within bounds."""
        node = super().get_single_node()
        if node is not None and self._may_grow:
            _check_size(node, self.most_expanded)
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:
        """Return the value of a node.

        Raises:
            yaml.MarkedYAMLError: It is not what its tag says.
        """
        try:
            return super().construct_object(node, deep=deep)
        except yaml.YAMLError:
            raise
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError) as error:
            what = str(error).partition(";")[0] if isinstance(error, ValueError) else "it does not fit its tag"
            raise _problem(f"this is not a value of {node.tag.rpartition(':')[2]}: {what}", node) from None


_LONGEST_NUMBER = 3_500
"""Characters of a number: even hexadecimal ones have fewer digits, then, than Python writes out."""


def _number(loader: Any, node: Any) -> Any:
    text = loader.construct_scalar(node)
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"it has more than {_LONGEST_NUMBER:,} digits")
    kind = node.tag.rpartition(":")[2]
    return getattr(yaml.SafeLoader, f"construct_yaml_{kind}")(loader, node)


BoundedLoader.add_constructor("tag:yaml.org,2002:int", _number)
BoundedLoader.add_constructor("tag:yaml.org,2002:float", _number)


class CoreLoader(BoundedLoader):
    """The loader for files of programs in JavaScript: YAML 1.2, in which ``yes``, ``on`` and ``12:30`` are texts.

    Numbers are of one kind (``1e3`` is 1000), and dates stay texts.
    """

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


def _core_number(loader: Any, node: Any) -> int | float:
    text = loader.construct_scalar(node).lower().lstrip("+")
    if len(text) > _LONGEST_NUMBER:
        raise ValueError(f"it has more than {_LONGEST_NUMBER:,} digits")
    if re.fullmatch(r"-?[0-9]+", text):
        return int(text)
    if text.startswith(("0x", "0o")):
        return int(text, 0)
    found = float(text.replace(".inf", "inf").replace(".nan", "nan"))
    return int(found) if found.is_integer() else found


for _kind, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("merge", "<<", "<"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
    ("float", r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", "-+."),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", re.compile(rf"^(?:{_pattern})$"), list(_first))
CoreLoader.add_constructor("tag:yaml.org,2002:int", _core_number)
CoreLoader.add_constructor("tag:yaml.org,2002:float", _core_number)


def parse_yaml(content: str | bytes, kind: type[BoundedLoader] = BoundedLoader) -> Any:
    """Parse the only document of a YAML text; ``kind`` has other bounds.

    Raises:
        yaml.YAMLError: It is not YAML, or too much of it; mostly a :class:`yaml.MarkedYAMLError`, with its place.
    """
    loader = kind(content)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def parse_with_nodes(content: str | bytes, kind: type[BoundedLoader] = BoundedLoader) -> tuple[yaml.Node | None, Any]:
    """Return the root of the only document of a YAML text, which has the places, and what it says.

    Raises:
        yaml.YAMLError: As :func:`parse_yaml`.
    """
    loader = kind(content)
    try:
        node: yaml.Node | None = loader.get_single_node()
        return node, None if node is None else loader.construct_document(node)
    finally:
        loader.dispose()


def compose_yaml(content: str | bytes) -> yaml.Node | None:
    """Return the nodes of the only document of a YAML text; ``None`` where there is none.

    Raises:
        yaml.YAMLError: As :func:`parse_yaml`.
    """
    loader = BoundedLoader(content)
    try:
        node: yaml.Node | None = loader.get_single_node()
        return node
    finally:
        loader.dispose()


def _problem(what: str, node: Any) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, what, node.start_mark)


def _look_over(content: bytes, most_bytes: int, most_nodes: int) -> None:
    """Refuse what the parser would take long over, or recurse in, before it sees it."""
    if len(content) > most_bytes:
        raise yaml.MarkedYAMLError(problem=f"the file has more than {most_bytes:,} bytes")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in content[:4]:
        content = content.decode("utf-16", "replace").encode("utf-8", "replace")
    suspicious = len(content) > _WITHOUT_LOOK or _NESTED_ON_A_LINE.search(content) is not None
    if not suspicious and (content.count(b"[") + content.count(b"{")) <= DEEPEST:
        return
    depth = 0
    for number, event in enumerate(_events(content)):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise yaml.MarkedYAMLError(
                problem=f"values are nested more than {DEEPEST} deep", problem_mark=event.start_mark
            )
        if number > most_nodes:
            raise yaml.MarkedYAMLError(
                problem=f"the file has more than {most_nodes:,} parts", problem_mark=event.start_mark
            )


def _events(content: bytes) -> Iterator[Any]:
    try:
        yield from yaml.parse(content, Loader=_Base)
    except yaml.YAMLError:
        return  # said when it is read


def _check_size(root: Any, most: int) -> None:
    """Refuse nodes that hold themselves, or that are too many when each alias is written out."""
    sizes: dict[int, int] = {}
    path: set[int] = set()
    waiting: list[tuple[Any, bool]] = [(root, False)]
    while waiting:
        node, is_done = waiting.pop()
        key = id(node)
        if is_done:
            path.discard(key)
            sizes[key] = size = 1 + sum(sizes[id(each)] for each in _parts(node))
            if size > most:
                raise _problem(f"aliases make more than {most:,} values of it", node)
        elif key in path:
            raise _problem("a value holds itself", node)
        elif key not in sizes:
            if isinstance(node, yaml.ScalarNode):
                sizes[key] = 1 + (len(node.value) >> 6)
                continue
            path.add(key)
            if len(path) > DEEPEST:
                raise _problem(f"values are nested more than {DEEPEST} deep", node)
            waiting.append((node, True))
            waiting.extend((each, False) for each in _parts(node) if id(each) not in sizes)


def _parts(node: Any) -> Iterator[Any]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value


_HINTS = (
    ("quoted scalar", "close the quote that begins here; a quote inside single quotes is written twice"),
    ("tab", "indent with spaces"),
    (
        "mapping values are not allowed",
        "a text with a colon in it stands in quotes, and so does one that begins with {{",
    ),
    ("", "look at the indentation, the quotes and the brackets of this line and the one above"),
)
"""What to do about a fault of YAML, by words of the parser's."""


def yaml_fault(error: yaml.YAMLError, file: str, before: int = 0) -> tuple[Location, str, str]:
    """Return where a file is not YAML, why, and what to do; of a quote that is never closed, where it begins.

    Args:
        error: What the parser says.
        file: The file.
        before: How many lines of the file stand before what was parsed.
    """
    why = str(getattr(error, "problem", None) or error)
    mark, context = (getattr(error, name, None) for name in ("problem_mark", "context"))
    if "quoted scalar" in str(context):
        mark = getattr(error, "context_mark", mark)
    place = Location(file, mark.line + 1 + before, mark.column + 1) if mark else Location(file)
    return place, why, next(hint for words, hint in _HINTS if words in f"{context} {why}")
