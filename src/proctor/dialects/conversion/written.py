"""An exam written out: its questions as rows that hold the whole prompt, whatever made it.

Any exam of any dialect can be written out, and every dialect can read rows: so what is asked stays the same, to the
last character, without translating one template language into another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.dialects.conversion.converted import Losses
from proctor.dialects.conversion.gradings import Graded, Reading, graded
from proctor.errors import UsageError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Prompt, Request, Rolling
from proctor.ir.question import Question
from proctor.recipes.exam import Exam

CHOICES = "choices"
"""The column of the texts to choose from."""


@dataclass(slots=True)
class Written:
    """An exam, written out.

    Attributes:
        name: The exam's name, fit for a file.
        rows: A row for each question: the columns of the instance, and the columns below.
        compares: Whether choices are compared; else the model writes.
        decoding: How the model is to write.
        repeats: How often each question is asked.
        graded: Metrics and text functions by name.
        losses: What is lost already.
        prompt, target: Columns with the prompt, and the right answer (a list: several). The texts to choose from are
            in the column ``choices``, where configs and metrics of likelihoods look for them.
        delimiter: What stands between prompt and choice.
        file: The file that the rows are written to: one for each form, since forms write right answers differently.
    """

    name: str
    rows: list[dict[str, Any]]
    compares: bool
    decoding: Decoding
    repeats: int
    graded: Graded
    losses: Losses = field(default_factory=Losses)
    prompt: str = "prompt"
    target: str = "target"
    delimiter: str = ""
    file: str = ""

    @property
    def columns(self) -> list[str]:
        """Columns of the instance that every row has."""
        own = {self.prompt, self.target, CHOICES}
        return [key for key in self.rows[0] if key not in own and all(key in row for row in self.rows)]


def written_out(exam: Exam, name: str, form: str) -> Written:
    """Return an exam, written out.

    Raises:
        UsageError: It asks what only its own dialect can ask: conversations, chat messages, likelihoods of one text.
    """
    losses = Losses()
    asked = _usable(exam, losses)
    first = asked[0].requests[0]
    made = graded(exam, asked[0])
    if exam.groups:
        losses.add("scores", f"groups: {', '.join(each.name for each in exam.groups)}; the exam is converted alone")
    columns = _columns(asked)
    compares = not isinstance(first, Generate)
    decoding = first.decoding if isinstance(first, Generate) else Decoding()
    repeats = 1 if compares else len(asked[0].requests)  # choices are a request each where contexts differ (PPL)
    written = Written(name, [], compares, decoding, repeats, made, losses, **columns)
    written.file = f"{name}-test.jsonl" if form == "eval.yaml" else f"{name}.{form}.jsonl"  # hubs find splits by name
    texts = _choosing(exam, asked, written) if compares else _writing(exam, asked, written)
    for question, text in zip(asked, texts, strict=True):
        written.rows.append({**question.instance, **text})
    for part, reason in made.lost:  # some are found while right answers are read
        losses.add(part, reason)
    return written


def _usable(exam: Exam, losses: Losses) -> list[Question]:
    """Return the questions that can be converted; the rest is named."""
    found = list(exam.questions())
    usable = [each for each in found if each.failure is None and each.requests]
    if len(usable) < len(found):
        losses.add("requests", f"{len(found) - len(usable)} rows cannot be used, and are left out")
    if not usable:
        raise UsageError(f"'{exam.name}' asks nothing")
    return _asked_once(usable, losses)


def _asked_once(questions: list[Question], losses: Losses) -> list[Question]:
    """Return the questions without those that are asked again under another seed, as configs repeat."""
    first = questions[0].requests[0]
    if not isinstance(first, Generate):
        return questions
    seeds = {each.decoding.seed for question in questions for each in question.requests if isinstance(each, Generate)}
    if len(seeds) < 2:  # noqa: PLR2004 - one seed, or none
        return questions
    losses.add("requests", f"n: each row is asked {len(seeds)} times under seeds of its own; it is asked once there")
    losses.add("scores", "n, k: one answer to a row has no pass@k")
    return [each for each in questions if _seed_of(each.requests[0]) == first.decoding.seed]


def _seed_of(request: Request) -> int | None:
    return request.decoding.seed if isinstance(request, Generate) else None


def _columns(questions: Sequence[Question]) -> dict[str, str]:
    """Return names for our columns that no instance has."""
    taken = {key for question in questions for key in question.instance}
    names = {}
    for name in ("prompt", "target"):
        free = name
        while free in taken:
            free += "_"
        names[name] = free
    return names


# -- the model writes ---------------------------------------------------------------------------------------------


def _writing(exam: Exam, questions: Sequence[Question], written: Written) -> Iterator[dict[str, Any]]:
    for question in questions:
        request = question.requests[0]
        if not isinstance(request, Generate) or len({each.key for each in question.requests}) > 1:
            raise UsageError(f"'{exam.name}' cannot be converted", why="it asks different things about one row")
        if request.decoding.extra.get("tools") != written.decoding.extra.get("tools"):
            raise UsageError(f"'{exam.name}' cannot be converted", why="rows offer functions of their own")
        if request.decoding != written.decoding:
            written.losses.add("requests", "max_tokens: rows have limits of their own; that of the first is kept")
        if request.prompt.is_chat and len(request.prompt.messages) == 1:
            written.losses.add("requests", "chat: what was one message of the user is a text there")
        yield {written.prompt: _text(exam, request.prompt), written.target: written.graded.target(question)}


def _text(exam: Exam, prompt: Prompt) -> str:
    if prompt.is_chat and not _is_one_text(prompt):
        raise UsageError(
            f"'{exam.name}' asks by chat messages",
            why="the other form writes one text",
            hint="convert it with a format of text, without --apply-chat-template",
        )
    return prompt.text


def _is_one_text(prompt: Prompt) -> bool:
    """Whether chat messages are one message of the user, in words: the same as a text for engines that chat."""
    messages = prompt.messages
    return len(messages) == 1 and messages[0]["role"] == "user" and isinstance(messages[0]["content"], str)


# -- choices are compared -----------------------------------------------------------------------------------------


def _choosing(exam: Exam, questions: Sequence[Question], written: Written) -> Iterator[dict[str, Any]]:
    pairs = [_pairs(exam, question, written.losses) for question in questions]
    gaps = {text[:1] for some in pairs for _, text in some}
    written.delimiter = " " if gaps == {" "} else ""
    written.graded.readings = [Reading("")]
    _check_contexts(exam, pairs, written)
    for question, some in zip(questions, pairs, strict=True):
        context = some[0][0]
        choices = [text.removeprefix(written.delimiter) for _, text in some]
        gold = question.exchange.gold
        if not written.graded.keeps_apart(question, choices):
            written.losses.add(
                "scores", "processors: they make one of several choices, and the other form has none here"
            )
        right = choices[gold] if gold is not None and gold < len(choices) else written.graded.target(question)
        yield {written.prompt: context, CHOICES: choices, written.target: right}


def _check_contexts(exam: Exam, pairs: Sequence[Sequence[tuple[str, str]]], written: Written) -> None:
    """Refuse choices that do not all follow the same words."""
    for some in pairs:
        if len({context for context, _ in some}) > 1:
            raise UsageError(f"'{exam.name}' cannot be converted", why="each of its choices follows words of its own")
        texts = [text for _, text in some]
        if len(set(texts)) < len(texts):
            written.losses.add("scores", "choices: two of one row are equal, and the right one is found by its text")


def _pairs(exam: Exam, question: Question, losses: Losses) -> list[tuple[str, str]]:
    request = question.requests[0]
    if isinstance(request, Choose):
        pairs = [(_text(exam, pair.context), pair.continuation) for pair in request.pairs]
        own = len(question.exchange.choices) or len(pairs)
        if own < len(pairs):
            losses.add("requests", "acc_mutual_info: the other form does not ask for choices without a question")
        return pairs[:own]
    if isinstance(request, Rolling) and question.labels:
        losses.add("requests", _LOSS)
        losses.add("scores", _LOSS)
        return _cut([each.text for each in question.requests if isinstance(each, Rolling)])
    raise UsageError(f"'{exam.name}' cannot be converted", why=_ALONE.get(type(request), "it is a conversation"))


_LOSS = "PPLInferencer: the other form compares likelihoods of endings, not mean losses of whole prompts"
_ALONE: Mapping[type, str] = {
    Likelihood: "it compares likelihoods of one text after several contexts, or measures one text",
    Rolling: "it measures the likelihood of whole texts",
}


def _cut(texts: Sequence[str]) -> list[tuple[str, str]]:
    """Return whole texts as what they all begin with, and how each ends."""
    low, high = min(texts), max(texts)
    cut = next((place for place, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    if any(len(text) == cut for text in texts):
        cut = max(0, cut - 1)  # every choice has an ending
    return [(text[:cut], text[cut:]) for text in texts]
