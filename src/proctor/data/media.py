"""Media in rows of the ``datasets`` library: opened here, within bounds and through the gate, and never by the library.

A column of pictures may name paths and addresses, and the library opens whatever they name. So it hands over what is
written, bytes or a path; pictures are made of them by :func:`~proctor.data.images.open_image`, other media stay as
``{"bytes": …, "path": …}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any

Make = Callable[[Any], Any]
_PLAIN = ("Json",)  # types whose decoding opens nothing: values of several kinds, kept as text


def undecoded(dataset: Any) -> Any:
    """Return a dataset of the library whose pictures are opened when a row is looked at, and by us."""
    features = getattr(dataset, "features", None) or {}
    makers: dict[str, Make] = {}
    for name, feature in features.items():
        raw = _raw(feature)
        if raw != feature:
            dataset = dataset.cast_column(name, raw)
        if make := _maker(raw):
            makers[name] = make
    if not makers:
        return dataset

    def pictures(batch: Mapping[str, Any]) -> dict[str, Any]:
        return {name: [makers[name](each) for each in values] if name in makers else values
                for name, values in batch.items()}  # fmt: skip

    if hasattr(dataset, "with_transform"):
        return dataset.with_transform(pictures)
    return dataset.map(lambda row: {**row, **{name: make(row[name]) for name, make in makers.items()}})


def _raw(feature: Any) -> Any:
    """Return the type of a column without decoding, at any depth."""
    if isinstance(feature, Mapping):
        made: Callable[[dict[str, Any]], Any] = type(feature)  # a dict, or the library's own
        return made({name: _raw(each) for name, each in feature.items()})
    if isinstance(feature, (list, tuple)):
        return [_raw(each) for each in feature]
    is_media = getattr(feature, "_type", "") not in _PLAIN and getattr(feature, "decode", False) is True
    if is_media and is_dataclass(feature):
        return replace(feature, decode=False)  # type: ignore[type-var]
    if is_dataclass(feature) and hasattr(feature, "feature"):
        inner = _raw(feature.feature)
        return feature if inner == feature.feature else replace(feature, feature=inner)  # type: ignore[type-var]
    return feature


def _maker(feature: Any) -> Make | None:
    """Return what makes pictures of a column's values; ``None`` where it holds none."""
    if getattr(feature, "_type", "") == "Image":
        return _picture
    if isinstance(feature, Mapping):
        inside = {name: make for name, each in feature.items() if (make := _maker(each))}
        if not inside:
            return None
        return lambda value: value and {name: inside[name](each) if name in inside else each
                                        for name, each in value.items()}  # fmt: skip
    inner = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", None)
    make = _maker(inner) if inner is not None else None
    if make is None:
        return None
    return lambda value: value and [make(each) for each in value]


def _picture(value: Any) -> Any:
    if value is None or (isinstance(value, Mapping) and not any(value.values())):
        return None
    from PIL import ImageOps

    from proctor.data.images import open_image

    return ImageOps.exif_transpose(open_image(value))
