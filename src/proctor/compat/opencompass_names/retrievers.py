"""The retrievers of OpenCompass with the signatures of their constructors."""

from __future__ import annotations

from typing import Any

from proctor import demos
from proctor.compat.opencompass_names.prompting import OpenCompassRetriever

LINE = "\n"
MPNET, GPT2 = "all-mpnet-base-v2", "gpt2-xl"


class OpenCompassZeroRetriever(OpenCompassRetriever):
    """No examples."""

    def __init__(self, dataset: Any, ice_eos_token: str = "") -> None:
        super().__init__(dataset, ice_eos_token=ice_eos_token)


class OpenCompassFixKRetriever(OpenCompassRetriever):
    """The same examples for everybody."""

    artifact = demos.FixKRetriever

    def __init__(
        self,
        dataset: Any,
        fix_id_list: list[int],
        ice_separator: str = LINE,
        ice_eos_token: str = LINE,
        ice_num: int = 1,
    ) -> None:
        self.fix_id_list = fix_id_list
        settings = {"ice_separator": ice_separator, "ice_eos_token": ice_eos_token, "ice_num": ice_num}
        super().__init__(dataset, fix_id_list=fix_id_list, **settings)


class OpenCompassRandomRetriever(OpenCompassRetriever):
    """Other random examples for every test row."""

    artifact = demos.RandomRetriever

    def __init__(
        self,
        dataset: Any,
        ice_separator: str = LINE,
        ice_eos_token: str = LINE,
        ice_num: int = 1,
        seed: int = 43,
    ) -> None:
        settings = {"ice_separator": ice_separator, "ice_eos_token": ice_eos_token, "ice_num": ice_num, "seed": seed}
        super().__init__(dataset, **settings)


class OpenCompassSlidingWindowRetriever(OpenCompassRetriever):
    """The rows before a test row."""

    artifact = demos.SlidingWindowRetriever

    def __init__(
        self, dataset: Any, k: int, ice_separator: str = LINE, ice_eos_token: str = LINE, ice_num: int = 1
    ) -> None:
        super().__init__(dataset, k=k, ice_separator=ice_separator, ice_eos_token=ice_eos_token, ice_num=ice_num)


class OpenCompassBM25Retriever(OpenCompassRetriever):
    """What shares most words with the test row."""

    artifact = demos.BM25Retriever

    def __init__(self, dataset: Any, ice_separator: str = LINE, ice_eos_token: str = LINE, ice_num: int = 1) -> None:
        super().__init__(dataset, ice_separator=ice_separator, ice_eos_token=ice_eos_token, ice_num=ice_num)


class OpenCompassTopkRetriever(OpenCompassRetriever):
    """What is most like the test row by its embedding; ``more`` are the settings of retrievers that build on it."""

    artifact = demos.TopkRetriever

    def __init__(
        self,
        dataset: Any,
        ice_separator: str = LINE,
        ice_eos_token: str = LINE,
        ice_num: int = 1,
        sentence_transformers_model_name: str = MPNET,
        tokenizer_name: str = GPT2,
        batch_size: int = 1,
        **more: Any,
    ) -> None:
        super().__init__(
            dataset,
            ice_separator=ice_separator,
            ice_eos_token=ice_eos_token,
            ice_num=ice_num,
            sentence_transformers_model_name=sentence_transformers_model_name,
            tokenizer_name=tokenizer_name,
            batch_size=batch_size,
            **more,
        )


class OpenCompassDPPRetriever(OpenCompassTopkRetriever):
    """A varied choice of what is most like the test row."""

    artifact = demos.DPPRetriever


class OpenCompassMDLRetriever(OpenCompassTopkRetriever):
    """The examples after which a small model is surest."""

    artifact = demos.MDLRetriever


class OpenCompassVotekRetriever(OpenCompassTopkRetriever):
    """The rows that stand for most others."""

    artifact = demos.VotekRetriever
