# Made by tools/update_stubs.py.

from proctor.demos.pool import DemoPool as DemoPool, draw_pool as draw_pool
from proctor.demos.retrievers import FixKRetriever as FixKRetriever, LabelsRetriever as LabelsRetriever, RandomRetriever as RandomRetriever, Retriever as Retriever, SlidingWindowRetriever as SlidingWindowRetriever, ZeroRetriever as ZeroRetriever
from proctor.demos.retrievers_bm25 import BM25Retriever as BM25Retriever
from proctor.demos.retrievers_dense import DPPRetriever as DPPRetriever, TopkRetriever as TopkRetriever, VotekRetriever as VotekRetriever
from proctor.demos.retrievers_mdl import MDLRetriever as MDLRetriever
from proctor.demos.samplers import CloseTextSampler as CloseTextSampler, DiverseLabelsSampler as DiverseLabelsSampler, FixedIndicesSampler as FixedIndicesSampler, RandomSampler as RandomSampler, Sampler as Sampler
