"""Requests of tasks that are Python classes, as engines take them, and answers as such classes read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Any, Final, Literal

from proctor.dialects.lm_eval.generation import decoding_of
from proctor.dialects.lm_eval.media import media_of
from proctor.dialects.lm_eval.prompts import with_media
from proctor.errors import UsageError
from proctor.ir import Choose, Generate, Likelihood, Pair, Prompt, Request, Response, Rolling
from proctor.recipes.exam_parts import Kind

KINDS: Final[Mapping[str, Kind]] = {
    "generate_until": "generate",
    "loglikelihood": "likelihood",
    "loglikelihood_rolling": "rolling",
}
"""What each type of request asks of a model."""


def requests_of(instances: Sequence[Any], *, is_laid_out: bool) -> Iterator[Request]:
    """Yield the requests about one document.

    Args:
        instances: The requests as the class makes them.
        is_laid_out: Whether a chat template has made texts of their contexts.

    Raises:
        UsageError: No engine answers one of them.
    """
    if len(instances) > 1 and all(each.request_type == "loglikelihood" for each in instances):
        yield Choose(tuple(Pair(_prompt(each, is_laid_out=is_laid_out), each.arguments[1]) for each in instances))
        return
    for each in instances:
        kind, arguments = each.request_type, each.arguments
        if kind == "loglikelihood":
            yield Likelihood(_prompt(each, is_laid_out=is_laid_out), arguments[1])
        elif kind == "loglikelihood_rolling" and len(arguments) == 1:
            yield Rolling(arguments[0])
        elif kind == "generate_until":
            asked = Generate(_prompt(each, is_laid_out=is_laid_out), decoding_of(arguments[1]))
            yield from repeat(asked, _times(each))
        elif kind == "loglikelihood_rolling":
            raise UsageError("the task asks for the likelihood of a whole text with pictures or sounds")
        else:
            raise UsageError(f"the task asks for '{kind}', which no engine answers")


def _times(instance: Any) -> int:
    """Return how often a request is asked: a likelihood is the same each time."""
    return _repeats(instance) if instance.request_type == "generate_until" else 1


def _repeats(instance: Any) -> int:
    return getattr(instance, "repeats", None) or 1


_MEDIA: Final[Mapping[str, Literal["image", "audio"]]] = {"visual": "image", "audio": "audio"}
"""What requests of classes call pictures and sounds."""


def _prompt(instance: Any, *, is_laid_out: bool) -> Prompt:
    """Return the context of a request, with the pictures and sounds that its third argument holds."""
    context, _, *more = instance.arguments
    if unknown := [name for each in more for name in each if name not in _MEDIA]:
        raise UsageError(f"a request of the task has '{unknown[0]}'", why=f"requests may have {', '.join(_MEDIA)}")
    media = [part for each in more for name, found in each.items() for part in media_of(_MEDIA[name], found)]
    if not media:
        return Prompt(context)
    if is_laid_out:
        raise UsageError(
            "the task has pictures or sounds, and a chat template has made a text of its context",
            hint="a model that takes messages: --model openai, or hf-multimodal",
        )
    return with_media([{"role": "user", "content": context}] if isinstance(context, str) else list(context), media)


def file_answers(instances: Sequence[Any], responses: Sequence[Response]) -> None:
    """File at the requests of one document what was answered: one answer for each time that a request is repeated."""
    answers = _answers(responses)
    for instance in instances:
        times = _times(instance)
        given = list(islice(answers, times))
        instance.resps, instance.filtered_resps = given * (_repeats(instance) // times), {}


def _answers(responses: Sequence[Response]) -> Iterator[Any]:
    """Yield what lm-eval's models would have answered, one for each of its requests."""
    for response in responses:
        if response.texts:
            yield response.texts[0]
        for score in response.scores:
            yield (score.log_likelihood, score.is_greedy)
