"""Responses: plain values that encode to JSON and back without loss."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct, structs

BATCHED = "batch"
"""What :attr:`Response.way` says of an answer that came in a provider's batch, where it costs less."""


class Usage(Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens read and written for one request, as the engine counted them.

    Attributes:
        prompt_tokens: Tokens read, those of a cache included.
        completion_tokens: Tokens written, those of thoughts included.
        thinking_tokens: Of the tokens written, those that went into thinking.
        cached_tokens: Of the tokens read, those that the provider had in its cache.
        cache_write_tokens: Of the tokens read, those that the provider put into its cache, and bills for that.
        cache_write_hour_tokens: The same, of those that it keeps there for an hour at a price of their own.
        audio_prompt_tokens: Of the tokens read, those of sound.
        audio_completion_tokens: Of the tokens written, those of sound.
        lost_prompt_tokens, lost_completion_tokens: Of the tokens read and written, those of attempts that brought no
            answer and were made again.
        unknown_attempts: Attempts that ended without a reply: what was read and written for them nobody said.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_hour_tokens: int = 0
    audio_prompt_tokens: int = 0
    audio_completion_tokens: int = 0
    lost_prompt_tokens: int = 0
    lost_completion_tokens: int = 0
    unknown_attempts: int = 0

    @property
    def of_answer(self) -> tuple[int, int]:
        """Tokens read and written for the answer itself, without those of lost attempts."""
        return self.prompt_tokens - self.lost_prompt_tokens, self.completion_tokens - self.lost_completion_tokens

    @property
    def counts(self) -> tuple[int, ...]:
        """All counts, in the order of the fields."""
        return structs.astuple(self)

    def __add__(self, other: Usage) -> Usage:
        """Return the tokens of both together."""
        return Usage(*[mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)])

    def as_data(self) -> dict[str, int]:
        """Return the counts by name; those beyond tokens read and written only where there are some."""
        always = ("prompt_tokens", "completion_tokens")
        return {name: n for name, n in structs.asdict(self).items() if n or name in always}


def total_usage(usages: Iterable[Usage]) -> Usage:
    """Return the tokens of all together, as adding them up one by one does, which takes longer."""
    return Usage(*map(sum, zip(*[structs.astuple(each) for each in usages], strict=True)))


class Timing(Struct, frozen=True, omit_defaults=True, gc=False):
    """The time of sending (Unix seconds) and of the answer (seconds).

    Attributes:
        started: When it was sent.
        seconds: How long the whole answer took.
        first_token_seconds: When the first word of a streamed answer came, after it was sent.
        piece_seconds: When each event of a streamed answer came, after it was sent, in order; those without words (the
            role before them, the count of tokens after them) are among them.
        server: Which of several servers gave it.
    """

    started: float = 0.0
    seconds: float = 0.0
    first_token_seconds: float | None = None
    piece_seconds: tuple[float, ...] = ()
    server: str = ""


class Failure(Struct, frozen=True, omit_defaults=True, gc=False):
    """The reason why an answer is missing. A failure is a value: it is stored, shown and counted.

    Attributes:
        kind: A short stable word: ``timeout``, ``unreachable`` (no server there), ``connection`` (it hung up),
            ``refused`` (the request is not acceptable), ``rate_limited``, ``protocol`` (a reply that
            cannot be read), ``server_error``, ``authentication``, ``forbidden``, ``not_found``,
            ``context_too_long``, ``out_of_memory``, ``content_filter`` (the model or a filter refused to answer:
            asking again does not help), ``thinking`` (all tokens went into thoughts: there is no answer),
            ``truncated`` (the answer was cut off, and ``--truncated fail`` wants none of those), ``engine``.
        message: What happened, for people.
        attempts: How often the request was tried.
        retryable: Whether asking again later may help.
    """

    kind: str
    message: str
    attempts: int = 1
    retryable: bool = True


class Scored(Struct, frozen=True, omit_defaults=True, gc=False):
    """The likelihood of one continuation (or one rolled text).

    Attributes:
        log_likelihood: Natural logarithm, summed over the continuation's tokens.
        is_greedy: Whether greedy decoding would have produced exactly this continuation.
        token_count: Tokens in the continuation.
    """

    log_likelihood: float
    is_greedy: bool = False
    token_count: int = 0


class TokenLogProbability(Struct, frozen=True, omit_defaults=True, gc=False):
    """A generated token, its natural log-probability, and the most likely alternatives."""

    token: str
    log_probability: float
    top: tuple[tuple[str, float], ...] = ()

    def as_data(self) -> dict[str, Any]:
        """Return the token as the dict that metrics on log-probabilities read."""
        top = [{"text": text, "logprob": value} for text, value in self.top]
        return {"text": self.token, "logprob": self.log_probability, "top_tokens": top}


class Response(Struct, frozen=True, omit_defaults=True, gc=False):
    """The answer to one request.

    Attributes:
        texts: Generated texts (``Decoding.count`` of them; for ``Converse`` one for each generated turn).
        scores: One per pair, in order (``Choose``, ``Likelihood``, ``Rolling``).
        finish_reasons: One per text: ``stop``, ``length``, ``tool_calls`` …
        thoughts: One per text, what the model thought before it answered, without its marks; empty where no text has
            any. Thoughts are kept and shown, never graded.
        written: One per text, all that the model wrote there, thoughts and marks included; empty where nothing in it
            could be a mark of thoughts.
        tokens: Per text the generated tokens with log-probabilities, where they were asked for.
        way: How likelihoods were asked for, where a server can be asked in several ways; a fact beside the answer.
        model: Who answered, where the reply says it: providers serve another version under the name that was asked.
        failure: Set when there is no answer; everything else is then empty, but for thoughts without an answer
            (``thinking``), of which everything but ``texts`` is kept.
    """

    texts: tuple[str, ...] = ()
    scores: tuple[Scored, ...] = ()
    finish_reasons: tuple[str, ...] = ()
    thoughts: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    tokens: tuple[tuple[TokenLogProbability, ...], ...] = ()
    usage: Usage = Usage()
    timing: Timing = Timing()
    failure: Failure | None = None
    model: str = ""
    way: str = ""

    @property
    def text(self) -> str:
        """The first text; the empty string where there is none."""
        return self.texts[0] if self.texts else ""
