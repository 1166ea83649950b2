"""Retrieval by trying out: the examples after which a small model is surest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from proctor.demos.retrievers import Corpus, LabelPrompts, Positions
from proctor.demos.retrievers_dense import Nearest, TopkRetriever
from proctor.demos.samplers import Instance
from proctor.errors import DemosError, needed
from proctor.settings import model_folder


class MDLRetriever(TopkRetriever):
    """Of several choices from the nearest rows, shows the one that leaves least doubt about the label.

    The source is Wu et al., Self-Adaptive In-Context Learning, arXiv 2212.10375.

    Attributes:
        candidate_num: How many of the nearest rows are chosen from.
        ce_model_name: The causal language model that is asked: a folder, or a name that settings map to one.
        select_time: How many choices are tried: the nearest rows, and random ones.
        ice_template, prompt_template: How examples and prompts are written, where that differs from the exam's own.
        labels: The labels; those of the templates where ``None``.
        seed: Seed of the random choices.
    """

    is_random: ClassVar[bool] = True
    candidate_num: int = 1
    ce_model_name: str = "gpt2-xl"
    select_time: int = 5
    ice_template: Any = None
    prompt_template: Any = None
    labels: list[Any] | None = None
    seed: int = 1

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return for everybody the choice with the lowest entropy over labels."""
        import numpy as np

        if label_prompts is None or not label_prompts.labels:
            raise DemosError(
                "MDLRetriever compares the prompts of labels, and there are none",
                hint="use templates that are maps from labels, or set 'labels'",
            )
        self._check_size(self.ice_num, index)
        if not len(test):
            return []
        nearest = Nearest(self, index.texts)
        generator = np.random.RandomState(self.seed)
        found = nearest.nearest(self.embed(test.texts), min(max(self.candidate_num, self.ice_num), len(index)))
        return [self._surest(row, near, generator, label_prompts) for row, near in zip(test.rows, found, strict=True)]

    def _surest(self, row: Any, near: Positions, generator: Any, prompts: LabelPrompts) -> Positions:
        import numpy as np

        tries = range(self.select_time - 1)
        random = [tuple(generator.choice(near, self.ice_num, replace=False).tolist()) for _ in tries]
        choices: list[Positions] = [near[: self.ice_num], *random]
        doubts = []
        for choice in choices:
            examples = prompts.examples(choice)
            losses = self.losses(prompts.prompts(row, examples), examples + self.ice_eos_token)
            likelihoods = np.exp(-np.array(losses))
            shares = likelihoods / likelihoods.sum()
            doubts.append(float(-(shares * np.log(shares)).sum()))
        return choices[doubts.index(min(doubts))]

    def losses(self, texts: Sequence[str], context: str) -> list[float]:
        """Return the mean loss per token of each text after the context that all begin with, in nats."""
        import torch

        tokenizer, model = self._scorer()
        skipped = len(tokenizer(context)["input_ids"])
        inputs = tokenizer(list(texts), padding=True, return_tensors="pt", truncation=True)
        with torch.inference_mode():
            logits = model(**inputs).logits[:, :-1]
        targets = inputs["input_ids"][:, 1:]
        losses = torch.nn.functional.cross_entropy(
            logits.flatten(0, 1), targets.flatten(), reduction="none", ignore_index=tokenizer.pad_token_id
        ).view_as(targets)
        losses[:, :skipped] = 0
        lengths = (inputs["input_ids"] != tokenizer.pad_token_id).sum(-1) - skipped
        return [float(each) for each in losses.sum(-1) / lengths.clamp(min=1)]

    def _scorer(self) -> tuple[Any, Any]:
        if not hasattr(self, "_scoring"):
            self._scoring: tuple[Any, Any] = load_language_model(self.ce_model_name)
        return self._scoring

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Refuse: prompts of labels are known to exams of configs only."""
        del sample_size, instances_pool, instance, sampling_seed
        raise DemosError(
            "MDLRetriever chooses by the prompts of labels, which a sampler does not know",
            hint="use TopkRetriever or DPPRetriever in recipes",
        )


def load_language_model(name: str) -> tuple[Any, Any]:
    """Return the tokenizer and the model of a causal language model that is on this machine.

    Raises:
        MissingExtraError: transformers is not installed.
        DemosError: There is no such model here.
    """
    with needed("transformers", "hf", "retrieval by description length"):
        from transformers import AutoModelForCausalLM, AutoTokenizer
    folder = model_folder(name) or name
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError) as error:
        raise DemosError(
            f"the language model '{name}' is not on this machine",
            path="$.retriever.ce_model_name",
            why=str(error).partition("\n")[0],
            hint="give a folder, or map the name: PROCTOR_MODELS_DIR=<dir> looks for <dir>/<name>",
        ) from None
    tokenizer.pad_token, tokenizer.padding_side = tokenizer.eos_token, "right"
    return tokenizer, model.eval()
