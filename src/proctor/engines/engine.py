"""The one seam between exams and models.

An engine answers requests. It implements one or two methods, :meth:`Engine.generate` and :meth:`Engine.score`; both
take an iterable of requests, read it only as fast as they can answer, and yield ``(position, response)`` in the order
in which answers arrive. A request that cannot be answered yields a response with a failure; only an engine that
cannot work at all raises :class:`~proctor.errors.EngineError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar

from proctor.artifacts import NON_POSITIONAL, Artifact, to_data
from proctor.errors import UnsupportedRequestError
from proctor.ir import Generate, Response, Score, content_key

Answers = Iterator[tuple[int, Response]]
"""Position of a request in what was passed in, and its response."""


class Engine(Artifact):
    """A model backend.

    Subclasses name in ``transient_fields`` what changes how fast answers come but not what they are (batch size,
    concurrency, time-outs); everything else is part of :attr:`identity`.
    """

    transient_fields: ClassVar[frozenset[str]] = frozenset({"data_classification_policy"})
    can_generate: ClassVar[bool] = True
    can_score: ClassVar[bool] = False

    data_classification_policy: Annotated[list[str] | None, NON_POSITIONAL] = None

    @property
    def identity(self) -> str:
        """A digest of everything that decides what this engine answers; equal engines share answers in the log."""
        return content_key("engine", self.type_name(), self.identity_values())

    def identity_values(self) -> dict[str, Any]:
        """Return the values that :attr:`identity` digests: every field that is not transient, defaults included."""
        return {
            name: to_data(getattr(self, name))
            for name in sorted(type(self).model_fields)
            if name not in self.transient_fields
        }

    @property
    def label(self) -> str:
        """What people call this engine, in tables and file names."""
        return str(getattr(self, "model", None) or getattr(self, "model_name", None) or self.type_name())

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests."""
        raise UnsupportedRequestError(f"the engine '{self.label}' cannot generate text")

    def score(self, requests: Iterable[Score]) -> Answers:
        """Answer requests for log-likelihoods; one :class:`~proctor.ir.Scored` per pair."""
        raise UnsupportedRequestError(
            f"the engine '{self.label}' cannot score continuations",
            why="it gives no log-probabilities for text it did not write",
            hint="use an engine that does (hf, smollm2, a server with echo log-probabilities), or the generate form of the exam",
        )

    def close(self) -> None:
        """Release what the engine holds (memory, connections); it may be used again afterwards."""
