"""Templates: instances in words, and words back into predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.templates.choice import MultipleChoiceTemplate, YesNoTemplate
    from proctor.templates.collections import TemplatesDict, TemplatesList
    from proctor.templates.dialogue import (
        DialogFieldsData,
        DialogPairwiseChoiceTemplate,
        DialogTemplate,
        PairwiseChoiceTemplate,
        PairwiseComparativeRatingTemplate,
    )
    from proctor.templates.multimodal import MMPromptTemplate
    from proctor.templates.prompt_list import PromptList, safe_format
    from proctor.templates.prompt_template import BasePromptTemplate, MultiTurnPromptTemplate, PromptTemplate
    from proctor.templates.raw_messages import RawPromptTemplate
    from proctor.templates.spans import SpanLabelingBaseTemplate, SpanLabelingJsonTemplate, SpanLabelingTemplate
    from proctor.templates.template import Template
    from proctor.templates.text import (
        InputFormatTemplate,
        InputOutputTemplate,
        InputOutputTemplateWithCustomTarget,
        JsonOutputFormatTemplate,
        JsonOutputTemplate,
        KeyValTemplate,
        MultiLabelTemplate,
        MultiReferenceTemplate,
        MultiTurnTemplate,
        NullTemplate,
        OutputFormatTemplate,
        OutputQuantizingTemplate,
    )

_HOMES = {
    "choice": (
        "MultipleChoiceTemplate",
        "YesNoTemplate",
    ),
    "collections": (
        "TemplatesDict",
        "TemplatesList",
    ),
    "dialogue": (
        "DialogFieldsData",
        "DialogPairwiseChoiceTemplate",
        "DialogTemplate",
        "PairwiseChoiceTemplate",
        "PairwiseComparativeRatingTemplate",
    ),
    "multimodal": ("MMPromptTemplate",),
    "prompt_list": (
        "PromptList",
        "safe_format",
    ),
    "prompt_template": (
        "BasePromptTemplate",
        "MultiTurnPromptTemplate",
        "PromptTemplate",
    ),
    "raw_messages": ("RawPromptTemplate",),
    "spans": (
        "SpanLabelingBaseTemplate",
        "SpanLabelingJsonTemplate",
        "SpanLabelingTemplate",
    ),
    "template": ("Template",),
    "text": (
        "InputFormatTemplate",
        "InputOutputTemplate",
        "InputOutputTemplateWithCustomTarget",
        "JsonOutputFormatTemplate",
        "JsonOutputTemplate",
        "KeyValTemplate",
        "MultiLabelTemplate",
        "MultiReferenceTemplate",
        "MultiTurnTemplate",
        "NullTemplate",
        "OutputFormatTemplate",
        "OutputQuantizingTemplate",
    ),
}

__all__ = [
    "BasePromptTemplate",
    "DialogFieldsData",
    "DialogPairwiseChoiceTemplate",
    "DialogTemplate",
    "InputFormatTemplate",
    "InputOutputTemplate",
    "InputOutputTemplateWithCustomTarget",
    "JsonOutputFormatTemplate",
    "JsonOutputTemplate",
    "KeyValTemplate",
    "MMPromptTemplate",
    "MultiLabelTemplate",
    "MultiReferenceTemplate",
    "MultiTurnPromptTemplate",
    "MultiTurnTemplate",
    "MultipleChoiceTemplate",
    "NullTemplate",
    "OutputFormatTemplate",
    "OutputQuantizingTemplate",
    "PairwiseChoiceTemplate",
    "PairwiseComparativeRatingTemplate",
    "PromptList",
    "PromptTemplate",
    "RawPromptTemplate",
    "SpanLabelingBaseTemplate",
    "SpanLabelingJsonTemplate",
    "SpanLabelingTemplate",
    "Template",
    "TemplatesDict",
    "TemplatesList",
    "YesNoTemplate",
    "safe_format",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
