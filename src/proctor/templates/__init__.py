"""Templates: instances in words, and words back into predictions."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "choice": "MultipleChoiceTemplate YesNoTemplate",
    "dialogue": (
        "DialogFieldsData DialogPairwiseChoiceTemplate DialogTemplate PairwiseChoiceTemplate "
        "PairwiseComparativeRatingTemplate"
    ),
    "multimodal": "MMPromptTemplate",
    "prompt_list": "PromptList safe_format",
    "prompt_template": "BasePromptTemplate MultiTurnPromptTemplate PromptTemplate",
    "raw_messages": "RawPromptTemplate",
    "spans": "SpanLabelingBaseTemplate SpanLabelingJsonTemplate SpanLabelingTemplate",
    "template": "TemplatesDict TemplatesList Template",
    "text": (
        "InputFormatTemplate InputOutputTemplate InputOutputTemplateWithCustomTarget JsonOutputFormatTemplate "
        "JsonOutputTemplate KeyValTemplate MultiLabelTemplate MultiReferenceTemplate MultiTurnTemplate NullTemplate "
        "OutputFormatTemplate OutputQuantizingTemplate"
    ),
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
