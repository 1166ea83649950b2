"""Whether a model has a chat template, as the files beside its weights say: nothing is loaded, nobody is asked."""

from __future__ import annotations

from pathlib import Path

from proctor.settings import model_folder

_FILES = ("chat_template.jinja", "chat_template.json")
_CONFIG = "tokenizer_config.json"


def has_chat_template(model: str, revision: str | None = None) -> bool:
    """Return whether the folder of a model, or its files in the cache of the hub, have a chat template.

    Args:
        model: A folder, or an id of the hub.
        revision: Of the hub's model.
    """
    place = model_folder(model)
    if place is not None:
        folder = Path(place)
        return any((folder / each).is_file() for each in _FILES) or _says_one(folder / _CONFIG)
    from huggingface_hub import try_to_load_from_cache

    try:
        found = {name: try_to_load_from_cache(model, name, revision=revision) for name in (*_FILES, _CONFIG)}
    except ValueError:  # neither a folder nor an id: who loads it says so
        return False
    return any(isinstance(found[each], str) for each in _FILES) or (
        isinstance(found[_CONFIG], str) and _says_one(Path(found[_CONFIG]))
    )


def _says_one(config: Path) -> bool:
    try:
        return '"chat_template"' in config.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
