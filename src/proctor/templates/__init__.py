"""Templates: instances in words, and words back into predictions."""

from proctor.templates.choice import MultipleChoiceTemplate, YesNoTemplate
from proctor.templates.collections import TemplatesDict, TemplatesList
from proctor.templates.dialogue import (
    DialogFieldsData,
    DialogPairwiseChoiceTemplate,
    DialogTemplate,
    PairwiseChoiceTemplate,
    PairwiseComparativeRatingTemplate,
)
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

__all__ = [
    "DialogFieldsData",
    "DialogPairwiseChoiceTemplate",
    "DialogTemplate",
    "InputFormatTemplate",
    "InputOutputTemplate",
    "InputOutputTemplateWithCustomTarget",
    "JsonOutputFormatTemplate",
    "JsonOutputTemplate",
    "KeyValTemplate",
    "MultiLabelTemplate",
    "MultiReferenceTemplate",
    "MultiTurnTemplate",
    "MultipleChoiceTemplate",
    "NullTemplate",
    "OutputFormatTemplate",
    "OutputQuantizingTemplate",
    "PairwiseChoiceTemplate",
    "PairwiseComparativeRatingTemplate",
    "SpanLabelingBaseTemplate",
    "SpanLabelingJsonTemplate",
    "SpanLabelingTemplate",
    "Template",
    "TemplatesDict",
    "TemplatesList",
    "YesNoTemplate",
]
