"""Tasks of lmms-eval: the grammar of lm-eval's, with pictures, sounds and films, and messages that functions make.

lmms-eval gives functions a mapping of texts beside the document (``lmms_eval_specific_kwargs``), one for each of its
own models. Here functions get the one that all others get, ``default``. What is sent is what its chat models are sent:
the messages of ``doc_to_messages``, or one message, with what ``doc_to_visual`` finds before the text.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Final, Literal

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.fields import as_function, find_text
from proctor.dialects.lm_eval.media import media_of
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import DataError, Diagnostic, Location, TemplateError
from proctor.ir import Media, Message
from proctor.logs import say_once

KEYS: Final[dict[str, str]] = {
    "doc_to_visual": "text function",
    "doc_to_messages": "function",
    "lmms_eval_specific_kwargs": "mapping",
    "model_specific_prompt_kwargs": "mapping",
    "model_specific_generation_kwargs": "mapping",
    "model_specific_target_kwargs": "mapping",
    "process_results_use_image": "switch",
    "full_docs": "switch",
    "cluster_key": "text",
    "score_key": "text",
    "reasoning_tags": "text list",
}
"""Keys of lmms-eval's tasks that lm-eval's do not have, and which kinds of values they take."""

_REFUSED: Final = {
    "full_docs": "process_results would get all documents, which are read one by one here",
    "reasoning_tags": "thoughts are told apart as the model marks them; --answers and --thinking say how",
}
"""Keys that are not obeyed, and what does their work."""

_OF_LOADING: Final = ("token", "video", "force_download", "local_files_only", "force_unzip", "create_link", "cache_dir")
"""Arguments by which lmms-eval fetches and unpacks films, which have to be there; who asks is said by the login."""
_ENDINGS: Final[Mapping[Literal["image", "audio"], Collection[str]]] = {
    "image": {".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tiff", ".webp"},
    "audio": {".wav", ".mp3", ".m4a", ".aac", ".flac", ".ogg", ".opus", ".webm"},
}
"""Endings by which lmms-eval tells what a path is; all others are films."""


def lmms_problems(values: Mapping[str, Any], locate: Callable[[str], Location | None]) -> Iterator[Diagnostic]:
    """Yield keys of lmms-eval's that are not obeyed here."""
    for key, hint in _REFUSED.items():
        if values.get(key):
            yield Diagnostic(f"'{key}' of lmms-eval is not obeyed here", locate(key), f"$.{key}", hint=hint)


def as_ours(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of a task of lmms-eval as lm-eval's; those of other tasks as they are."""
    if not values.keys() & KEYS.keys():
        return dict(values)
    made = {key: each for key, each in values.items() if key not in KEYS or key.startswith("doc_to_")}
    texts = _chosen(
        values.get("lmms_eval_specific_kwargs") or values.get("model_specific_prompt_kwargs"), ("default", "dataset")
    )
    for key in ("doc_to_text", "doc_to_visual", "doc_to_messages"):
        made[key] = _given(made.get(key), texts)
    for key in ("cluster_key", "score_key"):
        if values.get(key):
            say_once(f"{key} of lmms-eval has no effect: --clusters COLUMN says which questions belong together")
    targets = values.get("model_specific_target_kwargs") or {}
    made["doc_to_target"] = _given(made.get("doc_to_target"), targets.get("default"))
    if decoding := (values.get("model_specific_generation_kwargs") or {}).get("default"):
        made["generation_kwargs"] = {**(made.get("generation_kwargs") or {}), **decoding}
    if isinstance(loading := made.get("dataset_kwargs"), Mapping):
        if unused := [key for key in loading if key in _OF_LOADING]:
            say_once(f"dataset_kwargs {', '.join(unused)} of lmms-eval have no effect: files are read where they lie")
        made["dataset_kwargs"] = {key: each for key, each in loading.items() if key not in _OF_LOADING}
    return {key: each for key, each in made.items() if each is not None}


def _chosen(texts: Mapping[str, Any] | None, names: Sequence[str]) -> dict[str, Any] | None:
    if texts is None:
        return None
    if others := [name for name, each in texts.items() if name not in names and isinstance(each, Mapping)]:
        say_once(
            f"lmms_eval_specific_kwargs of {', '.join(others)} are for these models of lmms-eval: 'default' is used"
        )
    return {**texts, **next((texts[name] or {} for name in names if name in texts), {})}


def _given(spec: Any, arguments: Mapping[str, Any] | None) -> Any:
    return replace(spec, given=arguments) if isinstance(spec, FunctionReference) and arguments is not None else spec


def find_messages(config: TaskConfig, columns: Collection[str]) -> Callable[[Any], list[Message]] | None:
    """Return the chat messages of documents; ``None`` of a task that is not one of lmms-eval's.

    Raises:
        TrustError: They are made by code, and code is not trusted.
    """
    if (made := as_function(config.doc_to_messages, "doc_to_messages")) is not None:
        return lambda doc: _messages(made(doc))
    if config.doc_to_visual is None:
        return None
    visual = find_text(config.doc_to_visual, columns, "doc_to_visual", positions=False)
    text = find_text(config.doc_to_text or "", columns, "doc_to_text", positions=False)
    return lambda doc: [{"role": "user", "content": [*_parts(visual(doc)), {"type": "text", "text": text(doc)}]}]


def _messages(found: Any) -> list[Message]:
    if not isinstance(found, list) or not all(isinstance(each, Mapping) and "role" in each for each in found):
        raise TemplateError(f"doc_to_messages gives {type(found).__name__}, not a list of messages with a role")
    return [{**each, "content": _content(each.get("content"))} for each in found]


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    made: list[Any] = []
    for part in content:
        kind = part.get("type")
        made += [part] if kind == "text" else _parts([part], kind)
    return made


def _parts(found: Any, kind: str | None = None) -> list[dict[str, Any]]:
    parts = []
    for each in found if isinstance(found, list | tuple) else [found] if found is not None else []:
        media = _media(each, kind)
        key = f"{media.kind}_url"
        parts.append({"type": key, key: {"url": media.source}})
    return parts


def _media(value: Any, kind: str | None) -> Media:
    if isinstance(value, Mapping) and "type" in value:
        if cut := [key for key in ("start_time", "end_time", "video_start", "video_end") if value.get(key) is not None]:
            raise DataError(f"a part of a film cannot be sent ({cut[0]})", hint="give the part as a file of its own")
        kind = value["type"]
        value = next((value[key] for key in ("url", "path", kind) if value.get(key) is not None), None)
    if kind is None and isinstance(value, str):
        ending = PurePath(value).suffix.lower()
        kind = next((each for each, endings in _ENDINGS.items() if ending in endings), "video")
    if kind == "video":
        if isinstance(value, str):
            return Media("video", value)
        raise DataError(f"a film is {type(value).__name__}, which cannot be sent", hint="give a path or a URL")
    is_sound = kind == "audio" or (isinstance(value, Mapping) and "array" in value)
    [media] = media_of("audio" if is_sound else "image", value)
    return media
