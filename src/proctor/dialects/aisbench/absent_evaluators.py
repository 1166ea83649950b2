"""Evaluators that do not run here, each with its reason; and those of which nothing is to be expected."""

from __future__ import annotations

from collections.abc import Mapping

RECORDED_ONLY: Mapping[str, str] = {
    "MMCustomEvaluator": "it says 1 whatever was answered",
    "MTBenchEvaluator": "it compares turns of conversations with names of sounds",
}
"""Evaluators of AISBench that measure nothing, with the reason: answers are recorded, and nothing is scored."""

ABSENT: Mapping[str, str] = {
    "DS1000": "its tests are pickled; the metric 'ds1000' grades the edition of xlangai/DS-1000, whose tests are text",
    "Toxic": "it sends predictions to Google's Perspective service",
    "HumanevalX": "it sends programs to a service that runs them",
    "DS1000Service": "it sends programs to a service that runs them",
    "CIBench": "it runs what models wrote in notebooks",
    "OmniDocBench": "it compares pages by rendering their formulas with LaTeX",
    "BFCLMultiTurn": "it runs simulated programs of its package (files, orders, posts) between the calls; "
    "the categories of one turn run here, and 'bfcl generate' of the package bfcl-eval asks these",
    "LMMJudge": "it judges pictures that models made",
    "PMMEvalMIFEval": "its instructions are checked by the program of its authors",
    "GaoKaoMATH": "it asks a model at an address of its own; GenericLLMEvaluator asks the judge of a config",
    "OmniMath": "it loads a model that judges; GenericLLMEvaluator asks the judge of a config",
    "HealthBench": "it asks a judge about each rubric; so does --metric rubrics --judge MODEL",
    "TruthfulQA": "it asks models that OpenAI has withdrawn, or loads BLEURT",
    "SciCode": "its tests read values from a file of its authors' (HDF5)",
    "MultiplE": "it sends programs to a service that runs them",
    "HumanevalMulti": "it sends programs to a service that runs them",
    "LCBPro": "it sends programs to a service that runs them",
    "InternSandbox": "the package internbootcamp grades its answers",
    "PerspectiveGap": "the package perspective-gap, which no index has, grades its answers",
    "TheoremQAEvaluatorV3": "it runs what models wrote as Python; the older configs of TheoremQA compare texts",
    "MATHAgent": "it reads the steps of an agent",
    "Gsm8kAgent": "it reads the steps of an agent",
    "MP20": "it relaxes crystals with a neural network",
    "RNA": "it runs RNAfold and cmscan",
    "UPG": "it folds proteins with a neural network",
}
