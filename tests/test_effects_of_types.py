"""No artifact of a stranger's file touches anything past the gate, whatever its fields say.

Each registered type is built from JSON, its texts replaced by a path outside every allowed folder, by the address of a
server, or by the name of a variable, and made to work. An audit hook sees what Python opens, connects and starts; a
watched environment sees what is read. Anything that is seen was not asked about.
"""

from __future__ import annotations

import os
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from types import FrameType
from typing import Any, get_args, get_origin

import pytest

from proctor.artifacts import Artifact, registry
from proctor.artifacts.fetch import build
from proctor.artifacts.registry import builtin_types
from proctor.effects import session
from proctor.settings import settings

_SECRET = "PROCTOR_TEST_SECRET_OF_THE_USER"
_HEAVY = (
    "proctor.engines.hf.",
    "proctor.engines.vllm.",
    "proctor.engines.llamacpp",
    "proctor.guests.unitxt.engines.hf",
)
"""Engines that would load a model: what they read is a model's folder, and code in it needs ``--trust-code``."""


class _Watch:
    """What the hook, which cannot be taken away again, looks for and has seen; ``None`` while nobody looks."""

    seen: list[str] | None = None
    outside = ""


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _Watch.seen is None:
        return
    if event in ("open", "os.listdir", "os.scandir", "os.mkdir", "os.remove", "os.rename", "sqlite3.connect"):
        path = arguments[0]
        if isinstance(path, (str, bytes)) and _Watch.outside in os.fsdecode(path):
            _Watch.seen.append(f"{event} {os.fsdecode(path)}")
    elif event in ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"):
        _Watch.seen.append(f"{event} {arguments[0]}")
    elif event == "socket.connect":
        _Watch.seen.append(f"{event} {arguments[1]}")


def _is_ours(frame: FrameType | None) -> bool:
    """Whether code of Proctor reads a variable by name; what keeps secrets out of messages goes through all of them."""
    if frame is not None and frame.f_code.co_name in ("copy", "__iter__"):
        return False
    for _ in range(3):
        if frame is None:
            return False
        if f"{os.sep}src{os.sep}proctor{os.sep}" in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


@contextmanager
def _watched(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    events: list[str] = []
    mapping = type(os.environ)
    read = mapping.__getitem__

    def watched(self: Any, key: Any) -> Any:
        if key == _SECRET and _is_ours(sys._getframe(1)):  # libraries go through the whole environment
            events.append(f"environment {key}")
        return read(self, key)

    monkeypatch.setattr(mapping, "__getitem__", watched)
    _Watch.seen = events
    try:
        yield events
    finally:
        _Watch.seen = None


class _Quiet(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(1024)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/rows.json"
        server.shutdown()


@pytest.fixture(scope="module", autouse=True)
def _hooked() -> None:
    sys.addaudithook(_hook)


def _value(annotation: Any, text: str, depth: int = 0) -> Any:
    """Return a value of a field's type in which every text is ``text``."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is str or annotation is Any:
        return text
    if annotation in (int, float):
        return 1
    if annotation is bool:
        return True
    if isinstance(annotation, type) and issubclass(annotation, Artifact):
        return {"__type__": "load_from_dictionary", "data": {"test": [{"a": text}]}} if depth < 2 else None
    if origin is list or annotation is list:
        return [_value(arguments[0] if arguments else str, text, depth + 1)]
    if origin is dict or annotation is dict:
        return {"test": _value(arguments[1] if arguments else str, text, depth + 1)}
    if origin is tuple:
        return [_value(each, text, depth + 1) for each in arguments if each is not Ellipsis]
    for each in arguments:
        if each is not type(None):
            return _value(each, text, depth + 1)
    return text


def _built(kind: str, text: str) -> Artifact | None:
    fields = registry.get(kind).model_fields
    required = {name: _value(field.annotation, text) for name, field in fields.items() if field.is_required()}
    free = {name: field for name, field in fields.items() if name != "data_classification_policy"}
    texts = {name: _value(field.annotation, text) for name, field in free.items() if _has_text(field.annotation)}
    for chosen in ({**texts, **required}, required):
        with suppress(Exception):
            return build({"__type__": kind, **chosen})
    return None


def _has_text(annotation: Any) -> bool:
    return annotation is str or any(_has_text(each) for each in get_args(annotation))


def _work(artifact: Artifact, text: str) -> None:
    """Make it do whatever it does; what it makes of nonsense is not looked at."""
    row = {"a": text, "prediction": text, "references": [text], "source": text, "task_data": {"a": text}}
    for name, arguments in (
        ("__call__", ()),
        ("process", ()),
        ("load_iterables", ()),
        ("process_instance", (dict(row),)),
        ("process_value", (text,)),
        ("infer", ([row],)),
        ("compute", ([text], text, row)),
        ("process_text", (text,)),
        ("serialize", (text, row)),
        ("load", ()),
    ):
        method = getattr(artifact, name, None)
        if method is None:
            continue
        with suppress(Exception):
            _consume(method(*arguments))


def _consume(made: Any) -> None:
    if isinstance(made, dict) or hasattr(made, "items"):
        for each in list(made.values()):
            _consume(each)
    elif hasattr(made, "__iter__") and not isinstance(made, (str, bytes)):
        for each in islice(made, 3):
            del each


def _light_types() -> list[str]:
    return sorted(kind for kind, place in builtin_types().items() if not place.startswith(_HEAVY))


@pytest.mark.parametrize("fill", ["path", "address", "variable"])
def test_no_type_acts_past_the_gate(fill, address, tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.json").write_text('[{"a": 1}]', encoding="utf-8")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv(_SECRET, "sk-secret")
    _Watch.outside = str(outside)
    text = {"path": str(outside / "secret.json"), "address": address, "variable": _SECRET}[fill]
    found: dict[str, list[str]] = {}
    built = 0
    with settings.context(offline=True, trust_code=False, cache_dir=tmp_path / "cache"), session():
        for kind in _light_types():
            artifact = _built(kind, text)
            if artifact is None:
                continue
            built += 1
            with _watched(monkeypatch) as events:
                _work(artifact, text)
            if events:
                found[kind] = events
    assert built > 250
    assert found == {}
