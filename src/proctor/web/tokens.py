"""Tokens counted with a model's own tokenizer, where that lies on this machine; nothing is fetched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proctor.effects import author, reading, require
from proctor.errors import MissingExtraError, UsageError
from proctor.foreign_text import parse_json
from proctor.settings import model_folder, settings

EMBEDDED = "smollm2"
_CACHED = 4  # tokenizers stay loaded, 10 to 100 MB each; people look at one or two models at a time


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """Counts tokens for one model.

    Attributes:
        model: The model.
        context: Tokens that it can read at once, where its files say so.
    """

    model: str
    context: int | None
    tokenizer: Any

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, without the marks that a chat template adds."""
        return len(self.tokenizer.encode(text, add_special_tokens=False).ids)


def token_counter(model: str) -> TokenCounter:
    """Return a counter of a model's tokens: ``smollm2``, a folder, or an id below ``PROCTOR_MODELS_DIR``.

    Raises:
        MissingExtraError: The package ``tokenizers`` is not installed.
        UsageError: The model's tokenizer is not on this machine.
        NotAllowedError: A page asks for a folder that it must not read.
    """
    folder = _embedded() if model == EMBEDDED else model_folder(model)
    if folder is None or not (Path(folder) / "tokenizer.json").is_file():
        raise UsageError(
            f"the tokenizer of '{model}' is not on this machine, so its tokens are not counted",
            hint="name a folder with a tokenizer.json, or set PROCTOR_MODELS_DIR; smollm2 is there after its first run",
        )
    require(reading(Path(folder) / "tokenizer.json", author(), "counting tokens"), author())
    if find_spec("tokenizers") is None:
        raise MissingExtraError.of("tokenizers", "hf", "counting tokens")
    return _load(model, str(folder))


def _embedded() -> str | None:
    found = sorted((Path(settings.cache_dir) / "models").glob("SmolLM2*/tokenizer.json"))
    return str(found[-1].parent) if found else None


@lru_cache(maxsize=_CACHED)
def _load(model: str, folder: str) -> TokenCounter:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(Path(folder) / "tokenizer.json"))
    except Exception as error:  # noqa: BLE001 - the library raises nothing more precise; it becomes a message
        raise UsageError(f"the tokenizer of '{model}' cannot be read", why=str(error)) from None
    return TokenCounter(model, _context_of(Path(folder) / "config.json"), tokenizer)


def _context_of(config: Path) -> int | None:
    try:
        value = parse_json(config.read_text(encoding="utf-8")).get("max_position_embeddings")
    except (OSError, ValueError, AttributeError):  # no config, or one of another kind: the length is unknown
        return None
    return value if isinstance(value, int) else None
