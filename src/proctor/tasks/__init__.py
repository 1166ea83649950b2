"""Tasks, cards, serializers and the types of fields; names are imported when they are first used."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "card": "ICLCard TaskCard",
    "serializers": (
        "ConversationSerializer DefaultListSerializer DefaultSerializer DialogSerializer DictAsJsonSerializer "
        "DocumentSerializer ImageSerializer ListSerializer MultiDocumentSerializer MultiTypeSerializer "
        "NumberQuantizingSerializer NumberSerializer SQLDatabaseAsSchemaSerializer Serializer SingleTypeSerializer "
        "TableSerializer ToolCallSerializer ToolsSerializer VideoSerializer default_serializer"
    ),
    "table_serializers": (
        "SerializeTable SerializeTableAsConcatenation SerializeTableAsDFLoader SerializeTableAsHTML "
        "SerializeTableAsImage SerializeTableAsIndexedRowMajor SerializeTableAsJson SerializeTableAsMarkdown "
        "distinct_names"
    ),
    "task": "FormTask Task",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
