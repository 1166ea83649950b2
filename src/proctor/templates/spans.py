"""Templates whose answer is a list of labelled pieces of a text (entities, arguments)."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

from proctor.artifacts import NON_POSITIONAL
from proctor.templates.template import Fields
from proctor.templates.text import MultiLabelTemplate

Labelled = tuple[str, str]


class SpanLabelingBaseTemplate(MultiLabelTemplate):
    """Spans come as start and end offsets into ``text_field`` with labels; ``labels_support`` limits the labels."""

    spans_starts_field: str = "spans_starts"
    spans_ends_field: str = "spans_ends"
    text_field: str = "text"
    labels_support: list[Any] | None = None

    def span_label_pairs(self, reference_fields: Fields) -> Iterator[Labelled]:
        """Yield the text and label of each span in reading order."""
        text = reference_fields[self.text_field]
        spans = zip(
            reference_fields[self.spans_starts_field],
            reference_fields[self.spans_ends_field],
            reference_fields[self.labels_field],
            strict=False,
        )
        kept = [
            (start, end, text[start:end], label)
            for start, end, label in spans
            if self.labels_support is None or label in self.labels_support
        ]
        for _, _, words, label in sorted(kept):
            yield words, label

    def preprocess_reference_fields(self, reference_fields: Fields) -> Fields:
        """Put the spans in words."""
        targets = self.span_label_pairs_to_targets(self.span_label_pairs(reference_fields))
        return super().preprocess_reference_fields({"labels": targets})

    @abstractmethod
    def span_label_pairs_to_targets(self, pairs: Iterable[Labelled]) -> list[str]:
        """Return the spans in words."""


class SpanLabelingTemplate(SpanLabelingBaseTemplate):
    """Spans as ``text: label``, joined by commas; ``escape_characters`` in the text get a backslash."""

    span_label_format: str = "{span}: {label}"
    escape_characters: list[str] | None = [":", ","]
    postprocessors: Annotated[list[Any], NON_POSITIONAL] = ["processors.to_span_label_pairs"]

    def span_label_pairs_to_targets(self, pairs: Iterable[Labelled]) -> list[str]:
        """Return one text for each span."""
        return [
            self.fill(self.span_label_format, "span_label_format", {"span": self._escaped(words), "label": label})
            for words, label in pairs
        ]

    def _escaped(self, words: str) -> str:
        for character in self.escape_characters or ():
            words = words.replace(character, f"\\{character}")
        return words


class SpanLabelingJsonTemplate(SpanLabelingBaseTemplate):
    """Spans as one JSON object: label → list of texts."""

    postprocessors: Annotated[list[Any], NON_POSITIONAL] = [
        "processors.load_json",
        "processors.dict_of_lists_to_value_key_pairs",
    ]

    def span_label_pairs_to_targets(self, pairs: Iterable[Labelled]) -> list[str]:
        """Return the object as JSON text, or nothing where there are no spans."""
        groups: dict[str, list[str]] = {}
        for words, label in pairs:
            groups.setdefault(label, []).append(words)
        return [json.dumps(groups, ensure_ascii=False)] if groups else []
