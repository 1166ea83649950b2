"""Models as judges of predictions: by criteria, by template, in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.scoring.judges.criteria import (
        CreateCriteriaFromString,
        CreateYesNoCriteriaFromString,
        Criteria,
        CriteriaOption,
        CriteriaWithOptions,
    )
    from proctor.scoring.judges.direct import LLMJudgeDirect
    from proctor.scoring.judges.from_template import LLMAsJudge
    from proctor.scoring.judges.judge_agreement import agreement
    from proctor.scoring.judges.judgements import judgements_of
    from proctor.scoring.judges.llama_index import LlamaIndexCorrectness, LlamaIndexFaithfulness
    from proctor.scoring.judges.pairwise import LLMJudgePairwise

_HOMES = {
    "judge_agreement": ("agreement",),
    "criteria": (
        "CreateCriteriaFromString",
        "CreateYesNoCriteriaFromString",
        "Criteria",
        "CriteriaOption",
        "CriteriaWithOptions",
    ),
    "direct": ("LLMJudgeDirect",),
    "from_template": ("LLMAsJudge",),
    "judgements": ("judgements_of",),
    "llama_index": ("LlamaIndexCorrectness", "LlamaIndexFaithfulness"),
    "pairwise": ("LLMJudgePairwise",),
}

__all__ = [
    "CreateCriteriaFromString",
    "CreateYesNoCriteriaFromString",
    "Criteria",
    "CriteriaOption",
    "CriteriaWithOptions",
    "LLMAsJudge",
    "LLMJudgeDirect",
    "LLMJudgePairwise",
    "LlamaIndexCorrectness",
    "LlamaIndexFaithfulness",
    "agreement",
    "judgements_of",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
