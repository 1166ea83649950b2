"""Demos: solved instances shown in the prompt."""

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
