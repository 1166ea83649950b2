"""Models as judges of predictions: by criteria, by template, in pairs."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "judge_agreement": "agreement",
    "criteria": "CreateCriteriaFromString CreateYesNoCriteriaFromString Criteria CriteriaOption CriteriaWithOptions",
    "direct": "LLMJudgeDirect",
    "from_template": "LLMAsJudge",
    "judgements": "judgements_of",
    "llama_index": "LlamaIndexCorrectness LlamaIndexFaithfulness",
    "pairwise": "LLMJudgePairwise",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
