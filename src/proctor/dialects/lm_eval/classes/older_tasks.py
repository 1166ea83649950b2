"""``MultipleChoiceTask`` and ``PerplexityTask``: what Python classes derived from before there were task files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from proctor.dialects.lm_eval.classes.task import Task
from proctor.guests.lm_eval.instance import Instance


class MultipleChoiceTask(Task):
    """A task whose documents have ``choices`` and the place of the right one, ``gold``."""

    OUTPUT_TYPE = "loglikelihood"

    def doc_to_target(self, doc: Any) -> str:
        """Return the right choice."""
        return f" {doc['choices'][doc['gold']]}"

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> list[Instance]:
        """Return a likelihood of each choice."""
        metadata = kwargs.get("metadata", (None, None, None))
        return [
            Instance("loglikelihood", doc, (ctx, f" {each}"), place, metadata)
            for place, each in enumerate(doc["choices"])
        ]

    def process_results(self, doc: Any, results: Sequence[Any]) -> dict[str, float]:
        """Return whether the likeliest choice is the right one, also by length."""
        values, gold = [each[0] for each in results], doc["gold"]
        by_length = [value / len(text) for value, text in zip(values, doc["choices"], strict=True)]
        right = [float(max(range(len(each)), key=each.__getitem__) == gold) for each in (values, by_length)]
        return {"acc": right[0], "acc_norm": right[1]}

    def higher_is_better(self) -> dict[str, bool]:
        """Return that more is better."""
        return {"acc": True, "acc_norm": True}

    def aggregation(self) -> dict[str, Callable[[Any], Any]]:
        """Return means."""
        from proctor.scoring.aggregations import mean

        return {"acc": mean, "acc_norm": mean}


class PerplexityTask(Task):
    """A task of whole texts, whose perplexity is measured."""

    OUTPUT_TYPE = "loglikelihood_rolling"

    def has_training_docs(self) -> bool:
        """Return that there are none."""
        return False

    def doc_to_text(self, doc: Any) -> str:
        """Return nothing: the text is all there is."""
        del doc
        return ""

    def doc_to_target(self, doc: Any) -> Any:
        """Return the text."""
        return doc

    def construct_requests(self, doc: Any, ctx: Any, **kwargs: Any) -> Instance:
        """Return the likelihood of a whole text."""
        del ctx
        metadata = kwargs.get("metadata", (None, None, None))
        return Instance("loglikelihood_rolling", doc, (self.doc_to_target(doc),), 0, metadata)

    def process_results(self, doc: Any, results: Sequence[Any]) -> dict[str, Any]:
        """Return the likelihood with the text's lengths."""
        (found,), text = results, self.doc_to_target(doc)
        likelihood = found[0] if isinstance(found, tuple) else found
        words, size = self.count_words(text), self.count_bytes(text)
        return {
            "word_perplexity": (likelihood, words),
            "byte_perplexity": (likelihood, size),
            "bits_per_byte": (likelihood, size),
        }

    def higher_is_better(self) -> dict[str, bool]:
        """Return that less is better."""
        return dict.fromkeys(("word_perplexity", "byte_perplexity", "bits_per_byte"), False)

    def aggregation(self) -> dict[str, Callable[[Any], Any]]:
        """Return perplexities by word and byte, and bits."""
        from proctor.scoring.aggregations import bits_per_byte, weighted_perplexity

        return {
            "word_perplexity": weighted_perplexity,
            "byte_perplexity": weighted_perplexity,
            "bits_per_byte": bits_per_byte,
        }
