"""Demos: solved instances shown in the prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.demos.pool import DemoPool, draw_pool
    from proctor.demos.retrievers import (
        FixKRetriever,
        LabelsRetriever,
        RandomRetriever,
        Retriever,
        SlidingWindowRetriever,
        ZeroRetriever,
    )
    from proctor.demos.retrievers_bm25 import BM25Retriever
    from proctor.demos.retrievers_dense import DPPRetriever, TopkRetriever, VotekRetriever
    from proctor.demos.retrievers_mdl import MDLRetriever
    from proctor.demos.samplers import (
        CloseTextSampler,
        DiverseLabelsSampler,
        FixedIndicesSampler,
        RandomSampler,
        Sampler,
    )

_HOMES = {
    "pool": (
        "DemoPool",
        "draw_pool",
    ),
    "retrievers": (
        "FixKRetriever",
        "LabelsRetriever",
        "RandomRetriever",
        "Retriever",
        "SlidingWindowRetriever",
        "ZeroRetriever",
    ),
    "retrievers_bm25": ("BM25Retriever",),
    "retrievers_dense": (
        "DPPRetriever",
        "TopkRetriever",
        "VotekRetriever",
    ),
    "retrievers_mdl": ("MDLRetriever",),
    "samplers": (
        "CloseTextSampler",
        "DiverseLabelsSampler",
        "FixedIndicesSampler",
        "RandomSampler",
        "Sampler",
    ),
}

__all__ = [
    "BM25Retriever",
    "CloseTextSampler",
    "DPPRetriever",
    "DemoPool",
    "DiverseLabelsSampler",
    "FixKRetriever",
    "FixedIndicesSampler",
    "LabelsRetriever",
    "MDLRetriever",
    "RandomRetriever",
    "RandomSampler",
    "Retriever",
    "Sampler",
    "SlidingWindowRetriever",
    "TopkRetriever",
    "VotekRetriever",
    "ZeroRetriever",
    "draw_pool",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
