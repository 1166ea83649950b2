"""What a command line or a caller may change about any exam, whichever dialect it is written in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from proctor.errors import UsageError
from proctor.ir import Decoding, several_answers, unfit_decoding

Truncated = Literal["score", "fail"]
"""What becomes of an answer that was cut off: it is scored as it stands, or it is a failure."""

Answers = Literal["answer", "raw"]
"""What of an answer is graded: the answer, or all that was written, thoughts and their marks included."""


@dataclass(frozen=True, slots=True)
class ExamOptions:
    """Overrides; ``None`` (or nothing in a mapping) leaves what the exam says.

    Every exam honours each of them or refuses it by name; see :mod:`proctor.recipes.honours`.

    Attributes:
        num_demos: Demos (shots) in each prompt.
        limit: Most instances to ask: a count, or a fraction below 1 of each exam.
        samples: Positions of the instances to ask, by the exam's name.
        seed: Seed of every random choice of the exam. Without it, each exam keeps the seed of the system it comes from.
        code_seeds: Seeds of Python's and of numpy's global generator for code that exams bring. Without them
            :attr:`seed`, and without that the system's own.
        apply_chat_template: Lay prompts out as chat messages: for engines that take them as they are, or by the
            tokenizer of ``chat_template_model``.
        chat_template_model: Whose tokenizer's chat template to apply in text.
        meta_template: How the model wants dialogues laid out: the fields of a
            :class:`~proctor.formats.meta_template.MetaTemplate`.
        model_config: The config of the model (``FILE.py::ABBR``), whose limits and stop words hold for exams of the
            same dialect.
        demos_as_turns: With a chat template, show each demo as turns of its own.
        system_prompt: Text that opens every prompt.
        template: Which of an exam's templates to use.
        decoding: Fields of :class:`~proctor.ir.Decoding` to replace.
        predict_only: Record answers, score nothing.
        choices_as_text: Ask multiple-choice questions as text: the model writes the label. ``None`` does so for engines
            that give no log-probabilities.
        chat_override: Use what an exam says for chat models (lm-eval's ``chat_override``).
        metadata: More metadata for exams whose code reads it (lm-eval's ``metadata``).
        model_arguments: The model's arguments, for exams whose code reads them among the metadata.
        resamples: Bootstrap resamples behind a standard error, where a dialect has bootstrapped ones.
        keys: Keys of a task file that are replaced; mappings are merged.
        group_by: Fields (or several at once) to report scores by, beside what the exam itself says.
        repeats: How often each instance is asked about: separate answers, where the model draws them.
        truncated: Whether an answer that was cut off is scored as it stands, as the systems do that exams come from,
            or is a failure. ``None`` scores it.
        answers: Whether thoughts are graded, too: what the system that an exam comes from would see. ``None`` does not.
        reduce: What several answers come to: names of reducers (``mean``, ``majority``, ``best``, ``pass@4``,
            ``pass^4``, ``g-pass@4``), of which the first gives the main score.
        input_column: Of a table: the column that is asked.
        answer_column: Of a table: the column that answers are compared with.
        choices_column: Of a table: the column of the choices, or one column for each, commas between them.
        prompt: Of a table: how to ask, with columns in braces.
        clusters: The field whose values say which questions belong together; errors and intervals are of clusters.
        include_paths: More folders with exams.
    """

    num_demos: int | None = None
    limit: float | None = None
    samples: Mapping[str, Sequence[int]] | None = None
    seed: int | None = None
    code_seeds: tuple[int, int] | None = None
    apply_chat_template: bool = False
    chat_template_model: str | None = None
    meta_template: Mapping[str, Any] | None = None
    model_config: str | None = None
    demos_as_turns: bool | None = None
    system_prompt: str | None = None
    template: str | None = None
    decoding: Mapping[str, Any] = field(default_factory=dict)
    predict_only: bool = False
    choices_as_text: bool | None = None
    chat_override: bool | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    resamples: int | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    group_by: tuple[str | tuple[str, ...], ...] = ()
    repeats: int | None = None
    truncated: Truncated | None = None
    answers: Answers | None = None
    reduce: tuple[str, ...] = ()
    clusters: str | None = None
    input_column: str | None = None
    answer_column: str | None = None
    choices_column: str | None = None
    prompt: str | None = None
    include_paths: tuple[str, ...] = ()
    model_arguments: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check what has but a few values.

        Raises:
            UsageError: A value is none of them, the limit is below 0, or :attr:`decoding` has a value that cannot be
                meant.
        """
        for name, kind in (("truncated", Truncated), ("answers", Answers)):
            value, known = getattr(self, name), get_args(kind)
            if value is not None and value not in known:
                raise UsageError(f"{name} is {value!r}", hint=f"it is {' or '.join(known)}")
        if self.limit is not None and not 0 <= self.limit < math.inf:
            raise UsageError(f"limit is {self.limit}", hint="it is a number of instances, or a share of them below 1")
        if self.num_demos is not None and self.num_demos < 0:
            raise UsageError(f"the number of demos is {self.num_demos}", hint="0 shows none")
        for name, places in (self.samples or {}).items():
            odd = [each for each in places if isinstance(each, bool) or not hasattr(each, "__index__")]
            if odd:
                raise UsageError(
                    f"--samples names {odd[0]!r} of '{name}'", hint='positions are numbers: {"NAME": [0, 3]}'
                )
        if (several := several_answers(self.decoding)) is not None:
            name, count = several
            raise UsageError(
                f"--decoding {name}={count} asks for {count} answers to one request",
                why="an exam grades one answer to each request: the others would be paid for and thrown away",
                hint=f"--repeats {count} asks {count} times, and grades every answer",
            )
        if (unfit := unfit_decoding(self.decoding)) is not None:
            name, value, wanted = unfit
            raise UsageError(f"--decoding {name}={value!r}: {name} is {wanted}")

    def decode(self, base: Decoding) -> Decoding:
        """Return ``base`` with the overrides in :attr:`decoding`."""
        given = dict(self.decoding)
        if given.pop("do_sample", None) is False:  # greedy, as transformers and lm-eval mean it
            given["temperature"] = 0.0
        if not given:
            return base
        known = {name: getattr(base, name) for name in base.__struct_fields__}
        extra = {key: value for key, value in given.items() if key not in known}
        changed = {key: value for key, value in given.items() if key in known}
        return Decoding(**{**known, **changed, "extra": {**base.extra, **changed.get("extra", {}), **extra}})

    def places_of(self, exam: str) -> frozenset[int] | None:
        """Return the positions that :attr:`samples` names for an exam (``task@template`` also by its task)."""
        samples = self.samples or {}
        chosen = samples.get(exam, samples.get(exam.partition("@")[0]))
        return None if chosen is None else frozenset(chosen)


LOOKED_UP = frozenset({"include_paths", "model_arguments"})
"""Options that say where exams are found and who sits them; whoever gives them asks for no change."""

OPTIONS = tuple(each.name for each in fields(ExamOptions) if each.name not in LOOKED_UP)
"""Names of the options that change an exam."""


def given_options(options: ExamOptions) -> dict[str, Any]:
    """Return the options that change something, by name."""
    nothing = ExamOptions()
    values = {name: getattr(options, name) for name in OPTIONS}
    return {name: value for name, value in values.items() if value != getattr(nothing, name)}
