"""Tasks, cards, serializers and the types of fields; names are imported when they are first used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "card": (
        "ICLCard",
        "TaskCard",
    ),
    "serializers": (
        "ConversationSerializer",
        "DefaultListSerializer",
        "DefaultSerializer",
        "DialogSerializer",
        "DictAsJsonSerializer",
        "DocumentSerializer",
        "ImageSerializer",
        "ListSerializer",
        "MultiDocumentSerializer",
        "MultiTypeSerializer",
        "NumberQuantizingSerializer",
        "NumberSerializer",
        "SQLDatabaseAsSchemaSerializer",
        "Serializer",
        "SingleTypeSerializer",
        "TableSerializer",
        "ToolCallSerializer",
        "ToolsSerializer",
        "VideoSerializer",
        "default_serializer",
    ),
    "table_serializers": (
        "SerializeTable",
        "SerializeTableAsConcatenation",
        "SerializeTableAsDFLoader",
        "SerializeTableAsHTML",
        "SerializeTableAsImage",
        "SerializeTableAsIndexedRowMajor",
        "SerializeTableAsJson",
        "SerializeTableAsMarkdown",
        "distinct_names",
    ),
    "task": (
        "FormTask",
        "Task",
    ),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = list(_HOME_OF)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
