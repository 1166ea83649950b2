"""Demos: solved instances shown in the prompt."""

from proctor.demos.pool import DemoPool, draw_pool
from proctor.demos.samplers import (
    CloseTextSampler,
    DiverseLabelsSampler,
    FixedIndicesSampler,
    RandomSampler,
    Sampler,
)

__all__ = [
    "CloseTextSampler",
    "DemoPool",
    "DiverseLabelsSampler",
    "FixedIndicesSampler",
    "RandomSampler",
    "Sampler",
    "draw_pool",
]
