"""Demos: solved instances shown in the prompt."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "pool": "DemoPool draw_pool",
    "retrievers": "FixKRetriever LabelsRetriever RandomRetriever Retriever SlidingWindowRetriever ZeroRetriever",
    "retrievers_bm25": "BM25Retriever",
    "retrievers_dense": "DPPRetriever TopkRetriever VotekRetriever",
    "retrievers_mdl": "MDLRetriever",
    "samplers": "CloseTextSampler DiverseLabelsSampler FixedIndicesSampler RandomSampler Sampler",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
