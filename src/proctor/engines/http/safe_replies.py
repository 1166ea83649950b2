"""Cleans servers' replies: secrets taken out, and a value whatever went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import structs

from proctor.engines.http.retrying_client import CallError
from proctor.errors import ProctorError
from proctor.ir import Failure, Response, TokenLogProbability
from proctor.secrets import HIDDEN, cleaned, redacted


async def answered_safely(answer: Callable[[], Awaitable[Response]]) -> Response:
    """Return an answer, or why there is none; what a server said holds no secret of ours.

    Raises:
        ProctorError: No request can be answered: a package is missing, a permission.
    """
    try:
        response = await answer()
        _check_scores(response)
        return without_secrets(response)
    except CallError as error:
        failure = structs.replace(error.failure, message=redacted(error.failure.message))
        return Response(failure=failure, usage=error.usage)
    except ProctorError:
        raise
    except Exception as error:  # noqa: BLE001 - one answer that nobody foresaw is one failure, not the end of a run
        said = redacted(f"the answer cannot be used: {type(error).__name__}: {error}")
        return Response(failure=Failure("engine", said, retryable=False))


def _check_scores(response: Response) -> None:
    """Look at log-likelihoods that no model gives: a server that does not keep them writes zeros."""
    scores = response.scores
    if not scores:
        return
    if len(scores) > 1 and not any(score.log_likelihood for score in scores):
        where = f"of all {len(scores)} choices"
    elif (longest := max((score.token_count for score in scores if not score.log_likelihood), default=0)) > 1:
        where = f"over {longest} tokens"
    else:
        return
    message = (
        f"the log-likelihoods {where} are exactly 0, which no model gives: the server keeps none of the prompt's "
        "tokens. Use one that does (vLLM, SGLang), or endpoint=chat, which asks multiple choice as text"
    )
    raise CallError(Failure("engine", message, retryable=False), response.usage)


def without_secrets(response: Response) -> Response:
    """Return a response without the secrets that are known; the same response where it has none."""
    whole = "\n".join(
        (*response.texts, *response.thoughts, *response.written, *response.finish_reasons, response.model)
    )
    if _is_clean(whole) and (not response.tokens or _are_clean(response)):
        return response
    return structs.replace(
        response,
        texts=tuple(map(cleaned, response.texts)),
        thoughts=tuple(map(cleaned, response.thoughts)),
        written=tuple(map(cleaned, response.written)),
        finish_reasons=tuple(map(cleaned, response.finish_reasons)),
        model=cleaned(response.model),
        tokens=tuple(map(_without, response.tokens)),
    )


def _is_clean(text: str) -> bool:
    return cleaned(text) == text


def _are_clean(response: Response) -> bool:
    """Whether neither tokens, put together, nor alternatives to them hold a secret."""
    tokens = [token for listed in response.tokens for token in listed]
    others = "\n".join(text for token in tokens for text, _ in token.top)
    return _is_clean("".join(token.token for token in tokens)) and _is_clean(others)


def _without(tokens: tuple[TokenLogProbability, ...]) -> tuple[TokenLogProbability, ...]:
    """Return the tokens of an answer; where they spell a secret together, none of them says anything."""
    whole = "".join(token.token for token in tokens)
    is_spelled = cleaned(whole) != whole
    return tuple(
        structs.replace(
            token,
            token=HIDDEN if is_spelled else token.token,
            top=tuple((HIDDEN if is_spelled else cleaned(text), value) for text, value in token.top),
        )
        for token in tokens
    )
