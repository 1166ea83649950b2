"""Small files beside a model's weights, as far as they lie on this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from proctor.safe_files import read_bytes
from proctor.settings import model_folder

TOKENIZER_CONFIG = "tokenizer_config.json"
_MOST_BYTES = 16 << 20


def model_file(model: str, name: str, revision: str | None = None) -> Path | None:
    """Return a file of a model; ``None`` where its folder, or what the cache of the hub has of it, has none.

    Args:
        model: A folder, or an id of the hub.
        name: The file's name.
        revision: Of the hub's model.
    """
    own = Path(model).expanduser()  # of a tokenizer alone has no weights
    place = own if own.is_dir() else model_folder(model)
    if place is not None:
        return found if (found := Path(place) / name).is_file() else None
    from huggingface_hub import try_to_load_from_cache

    try:
        cached = try_to_load_from_cache(model, name, revision=revision)
    except ValueError:  # neither a folder nor an id: who loads it says so
        return None
    return Path(cached) if isinstance(cached, str) else None


def token_before_texts(model: str) -> str:
    """Return the text of the token that stands before texts with nothing before them: BOS, else EOS, as in lm-eval.

    Empty where the files of the tokenizer are not on this machine, or name neither.
    """
    for key in ("bos_token", "eos_token"):
        for name in (TOKENIZER_CONFIG, "special_tokens_map.json"):
            if (path := model_file(model, name)) is None:
                continue
            try:
                said = json.loads(read_bytes(path, _MOST_BYTES)).get(key)
            except (OSError, ValueError, AttributeError, RecursionError):
                continue
            text = said.get("content") if isinstance(said, Mapping) else said
            if isinstance(text, str) and text:
                return text
    return ""
