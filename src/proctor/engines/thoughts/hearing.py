"""From what a model wrote to its answer: thoughts are put aside, and where there is nothing else there is no answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from msgspec import structs

from proctor.engines.thoughts.marks import Family, Marks
from proctor.engines.thoughts.splitting import Split, split
from proctor.ir import THINKING, Failure, Message, Prompt, Response, TokenLogProbability, is_cut_off

_LOOKED_AT = 64  # characters at the end of a prompt in which a mark is looked for: the longest has 52
_LONGEST_REASON = 80  # characters of what a server says why an answer ended, in a message
_ALLOW = "--thinking-tokens N allows for thoughts, on top of what the exam allows for the answer"


@dataclass(frozen=True, slots=True)
class Opening:
    """The state of thoughts at the end of a prompt.

    Attributes:
        family: Whose thoughts it begins; ``None`` where it begins none.
        is_closed: Whether it ends them already, so that only the answer is left to write.
        is_assumed: Whether that is known from the model's name only: a text that is not cut off is then an answer.
        is_shown: Whether whoever runs the model always shows that it thought: where nothing does, and nothing is
            answered, it said nothing. Elsewhere an answer that was cut off before its first word went into thoughts.
    """

    family: Family | None = None
    is_closed: bool = False
    is_assumed: bool = False
    is_shown: bool = False


UNKNOWN = Opening()


def opening_of(
    prompt: Prompt | str, marks: Marks, *, by_name: bool = False, strings_are_messages: bool = False
) -> Opening:
    """Return the state of thoughts at the end of a prompt.

    Args:
        prompt: What the model reads, in its chat template where that is known; else what is sent to a server, of which
            the end counts where the model is to go on with it: a string, or a message of the assistant.
        marks: The model's marks.
        by_name: Whether the chat template is unknown, so that the model's name has to tell whether it begins thoughts.
        strings_are_messages: Whether a string reaches the model as a message, in its chat template.
    """
    payload = prompt if isinstance(prompt, str) else prompt.payload
    is_string = payload is prompt or (isinstance(payload, str) and not strings_are_messages)
    text: str = payload if is_string else _continued(payload)  # type: ignore[assignment]
    end = text[-_LOOKED_AT:]  # without blanks behind; long texts are not copied for it
    if end[-1:].isspace():
        end = text.rstrip()[-_LOOKED_AT:]
    always = marks.always
    if end.endswith(marks.all_marks):
        for family in marks.families:
            if end.endswith(family.start):
                return Opening(always or family)
            if end.endswith(family.end):
                return Opening(is_closed=True)
    if always is not None:
        return Opening(always)
    if by_name and not end and not is_string and marks.template_opens is not None:
        return Opening(marks.template_opens, is_assumed=True)
    return UNKNOWN


def _continued(payload: str | Sequence[Message]) -> str:
    """Return the text of messages that the model goes on with; empty where its chat template puts something behind."""
    last: Message = payload[-1] if payload and not isinstance(payload, str) else {}
    content = last.get("content") if last.get("role") == "assistant" else None
    return content if isinstance(content, str) else ""


def heard(
    response: Response, marks: Marks, opening: Opening = UNKNOWN, count: Callable[[str], int] | None = None
) -> Response:
    """Return a response whose texts are answers: thoughts are put aside, and thoughts without an answer are a failure.

    A response that was heard before, and one without any thoughts, is returned as it is.

    Args:
        response: What an engine made of what the model wrote, or what a log of an earlier version holds. Thoughts that
            came apart from the text are in it already.
        marks: The model's marks.
        opening: What the prompt says.
        count: Counts tokens of thoughts, where the engine can.
    """
    if response.failure is not None or response.written or not response.texts:
        return response
    texts = response.texts
    search = marks.any_mark.search
    is_marked = any(map(search, texts)) if len(texts) > 1 else search(texts[0]) is not None
    if not is_marked and opening.family is None and _has_no_thoughts(response):
        return response
    apart = response.thoughts or ("",) * len(response.texts)
    reasons = response.finish_reasons or ("",) * len(response.texts)
    answers = [
        _Answer.of(text, aside, reason, marks, _opening_left(opening, response, aside))
        for text, aside, reason in zip(response.texts, apart, reasons, strict=True)
    ]
    missing = [answer for answer in answers if answer.is_missing(response, is_shown=opening.is_shown)]
    if not missing and all(answer.parts.is_plain and not answer.aside for answer in answers):
        is_judged = is_marked or not all(response.texts)  # whoever hears it again knows less of the prompt
        return structs.replace(response, written=response.texts) if is_judged else response
    return _told_apart(response, answers, missing, count)


def _has_no_thoughts(response: Response) -> bool:
    """Whether nothing beside the texts speaks of thoughts: nothing came apart, and no text was cut off in them."""
    if response.usage.thinking_tokens or (response.thoughts and any(response.thoughts)):
        return False
    return response.finish_reasons == _STOPPED or not any(map(is_cut_off, response.finish_reasons))


_STOPPED = ("stop",)
"""Why nearly all answers end."""


def _opening_left(opening: Opening, response: Response, aside: str) -> Opening:
    """Return what a prompt says of a text whose thoughts came apart: no more than that they have ended."""
    is_apart = bool(aside) or (opening.is_assumed and response.usage.thinking_tokens > 0)
    return replace(opening, family=None) if is_apart else opening


@dataclass(frozen=True, slots=True)
class _Answer:
    """One text of a response, and what there is in it."""

    text: str
    aside: str
    reason: str
    parts: Split

    @classmethod
    def of(cls, text: str, aside: str, reason: str, marks: Marks, opening: Opening) -> _Answer:
        parts = split(text, marks, opening.family, is_closed=opening.is_closed)
        if opening.is_assumed and parts.is_open and (not is_cut_off(reason) or _begins_itself(parts)):
            parts = split(text, marks)
        return cls(text, aside, reason, parts)

    @property
    def thoughts(self) -> str:
        return "\n\n".join(part for part in (self.aside.strip(), *self.parts.thoughts) if part)

    def is_missing(self, response: Response, *, is_shown: bool) -> bool:
        """Whether the model thought, as far as it shows, and answered nothing."""
        if self.parts.is_open:
            return True
        if self.parts.answer.strip():
            return False
        thought = bool(self.thoughts or response.usage.thinking_tokens)
        return thought or (is_cut_off(self.reason) and not self.text and not is_shown)


def _begins_itself(parts: Split) -> bool:
    return bool(parts.pieces) and parts.pieces[0][0] == "mark"


def _told_apart(
    response: Response, answers: Sequence[_Answer], missing: Sequence[_Answer], count: Callable[[str], int] | None
) -> Response:
    thoughts = tuple(answer.thoughts for answer in answers)
    usage = response.usage
    if not usage.thinking_tokens:
        if len(missing) == len(answers):
            usage = structs.replace(usage, thinking_tokens=usage.completion_tokens)
        elif count is not None:
            spent = sum(count(answer.text[: answer.parts.start]) for answer in answers)
            usage = structs.replace(usage, thinking_tokens=min(spent, usage.completion_tokens))
    return structs.replace(
        response,
        texts=() if missing else tuple(answer.parts.answer for answer in answers),
        thoughts=thoughts if any(thoughts) else (),
        written=tuple(answer.text for answer in answers),
        tokens=() if missing else _tokens_behind(response.tokens, answers, count),
        usage=usage,
        failure=_failure(missing, len(answers), usage.completion_tokens) if missing else None,
    )


def _failure(missing: Sequence[_Answer], of: int, tokens: int) -> Failure:
    reason, what = (
        missing[0].reason[:_LONGEST_REASON],
        f"all {tokens} tokens" if tokens and len(missing) == of else "all tokens",
    )
    which = f"{what} of {len(missing)} of {of} answers" if of > 1 else what
    if is_cut_off(reason) and not (missing[0].thoughts or missing[0].parts.is_open):
        why = f"unseen, for it was cut off before its first word: {_ALLOW}"
    elif is_cut_off(reason):
        why = f"it was cut off before it answered: {_ALLOW}"
    elif missing[0].parts.is_open:
        why = f"it ended ('{reason}') before its thoughts did; a stop string in them may have ended them: {_ALLOW}"
        why += ", and stop strings then count in the answer only"
    else:
        why = f"it ended ('{reason}') without a word of an answer"
    return Failure(THINKING, f"{which} went into thinking: the model thought, and {why}", retryable=False)


def _tokens_behind(
    tokens: tuple[tuple[TokenLogProbability, ...], ...], answers: Sequence[_Answer], count: Callable[[str], int] | None
) -> tuple[tuple[TokenLogProbability, ...], ...]:
    """Return the tokens of the answers, where those of the whole texts are known."""
    if len(tokens) != len(answers):
        return tokens
    return tuple(_behind(each, answer, count) for each, answer in zip(tokens, answers, strict=True))


def _behind(
    tokens: tuple[TokenLogProbability, ...], answer: _Answer, count: Callable[[str], int] | None
) -> tuple[TokenLogProbability, ...]:
    if not "".join(token.token for token in tokens).startswith(answer.text):
        # The tokens of the answer alone, from a server; or a tokenizer whose tokens lose blanks when they stand alone.
        return tokens if count is None else tokens[count(answer.text[: answer.parts.start]) :]
    length = 0
    for place, token in enumerate(tokens):
        if length >= answer.parts.start:
            return tokens[place:]
        length += len(token.token)
    return ()


def cut_at(response: Response, stops: Sequence[str]) -> Response:
    """Return a response whose answers end where a stop string begins, for stop strings that the model did not stop at.

    A stop string in thoughts does not count.
    """
    if not any(stops) or response.failure is not None or not response.texts:
        return response
    texts = [_before(text, stops) for text in response.texts]
    if texts == list(response.texts):
        return response
    known = response.finish_reasons or ("",) * len(texts)
    reasons = [
        reason if cut == text else "stop" for cut, text, reason in zip(texts, response.texts, known, strict=True)
    ]
    return structs.replace(response, texts=tuple(texts), finish_reasons=tuple(reasons))


def turn_of(reply: Response, *, with_thoughts: bool = False) -> Message:
    """Return the model's answer as a turn of a conversation.

    Args:
        reply: What it said.
        with_thoughts: Whether its thoughts go along, under the name that chat templates and servers have for them.
    """
    thoughts = reply.thoughts[0] if with_thoughts and reply.thoughts else ""
    return {"role": "assistant", "content": reply.text, **({"reasoning_content": thoughts} if thoughts else {})}


def token_counter(tokenizer: Any) -> Callable[[str], int]:
    """Return a counter of a text's tokens, for :func:`heard`."""
    return lambda text: len(tokenizer([text], add_special_tokens=False)["input_ids"][0])


def _before(text: str, stops: Sequence[str]) -> str:
    return min((text.partition(mark)[0] for mark in stops if mark), key=len, default=text)


def as_written(response: Response, marks: Marks, *, stops: Sequence[str] = (), joint: str | None = None) -> Response:
    """Return a response as it was before it was heard: what systems see that do not tell thoughts from answers.

    Args:
        response: What an engine gave.
        marks: The model's marks. Thoughts whose end the user named are taken away as lm-eval does it: all before the
            last mark of their end, and nothing where there is none.
        stops: Where these systems cut texts, thoughts or not.
        joint: What the system puts between thoughts that came apart from the text and the text; by default it does not
            look at such thoughts.
    """
    if response.failure is not None and response.failure.kind != THINKING:
        return response
    texts = list(response.written or response.texts)
    for place, thoughts in enumerate(response.thoughts):
        if joint is not None and thoughts and thoughts not in texts[place]:
            texts[place] = f"{thoughts}{joint}{texts[place]}" if texts[place] else thoughts
    if (own := marks.always) is not None and response.written:
        texts = [text.rpartition(own.end[0])[2].lstrip() for text in texts]
    if response.written:
        texts = [_before(text, stops) for text in texts]
    return structs.replace(response, texts=tuple(texts), written=(), failure=None)
