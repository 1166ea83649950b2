"""Makes the package ``conformance`` importable: the goldens and what records them. Lets a test load equal files once."""

import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


@pytest.fixture(autouse=True)
def _loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Load what is the same in every byte once in a test: hundreds of its exams read the same few rows."""
    import datasets

    load, loaded = datasets.load_dataset, {}

    def load_dataset(*places: Any, **how: Any) -> Any:
        key = repr((places, sorted(how.items(), key=str), sorted(_digests([*places, *how.values()]))))
        if key not in loaded:
            loaded[key] = load(*places, **how)
        return loaded[key]

    monkeypatch.setattr(datasets, "load_dataset", load_dataset)


def _digests(value: Any) -> Iterator[tuple[str, str]]:
    """Yield the files that arguments name, with what is in them."""
    if isinstance(value, str):
        path = Path(value).absolute()
        for each in [path] if path.is_file() else filter(Path.is_file, path.rglob("*")) if path.is_dir() else []:
            yield str(each), hashlib.sha256(each.read_bytes()).hexdigest()
    elif isinstance(value, Mapping):
        yield from _digests(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _digests(each)
