"""Single rows as streams, and names inside of rows replaced, as Unitxt's operators do it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from proctor.data.fields import Row
from proctor.data.streams import GeneratorStream


def instance_generator(instance: Row) -> Iterator[Row]:
    """Yield a row."""
    yield instance


def stream_single(instance: Row) -> GeneratorStream:
    """Return a stream of one row."""
    return GeneratorStream(instance_generator, gen_kwargs={"instance": instance})


def instance_result(result_stream: Iterable[Row]) -> Any:
    """Return the only row of a stream, ``None`` of an empty one, and all rows of any other."""
    rows = list(result_stream)
    return None if not rows else rows[0] if len(rows) == 1 else rows


def recursive_key_value_replace(
    data: Any, target_key: str, value_map: Mapping[Any, Any], value_remove: Sequence[Any] | None = None
) -> Any:
    """Replace and remove values under a name, wherever it stands in nested data; the data are changed and returned.

    Args:
        data: Dicts and lists.
        target_key: The name.
        value_map: What stands for which value.
        value_remove: Values to take away.
    """
    removed = value_remove or ()
    if isinstance(data, dict):
        for key, value in list(data.items()):
            if key != target_key or isinstance(value, dict):
                recursive_key_value_replace(value, target_key, value_map, removed)
            elif isinstance(value, list):
                plain = (each for each in value if not isinstance(each, dict) and each not in removed)
                data[key] = [value_map.get(each, each) for each in plain]
            elif value in removed:
                del data[key]
            else:
                data[key] = value_map.get(value, value)
    elif isinstance(data, list):
        for each in data:
            recursive_key_value_replace(each, target_key, value_map, removed)
    return data
