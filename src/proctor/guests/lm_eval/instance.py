"""``lm_eval.api.instance``: a request as tasks and models of lm-eval see it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

OutputType = Literal["loglikelihood", "loglikelihood_rolling", "generate_until", "multiple_choice"]


@dataclass
class Instance:
    """One request about one document.

    Attributes:
        request_type: What is asked.
        doc: The document.
        arguments: What is sent: a context with a continuation, or with how to generate; one text of a rolling request.
        idx: Which of the document's requests it is.
        metadata: The task's name, the document's number, and how often the request is repeated.
        resps: What was answered.
        filtered_resps: What each filter made of it.
    """

    request_type: OutputType
    doc: Any
    arguments: tuple[Any, ...]
    idx: int
    metadata: tuple[str | None, int | None, int | None] = (None, None, None)
    resps: list[Any] = field(default_factory=list)
    filtered_resps: dict[str, Any] = field(default_factory=dict)
    task_name: str | None = None
    doc_id: int | None = None
    repeats: int | None = None

    def __post_init__(self) -> None:
        self.task_name, self.doc_id, self.repeats = self.metadata

    @property
    def args(self) -> tuple[Any, ...]:
        """What is sent, always as a tuple."""
        return self.arguments if isinstance(self.arguments, tuple) else (self.arguments,)
