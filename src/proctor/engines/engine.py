"""The one seam between exams and models.

An engine answers requests. It implements one or two methods, :meth:`Engine.generate` and :meth:`Engine.score`; both
take an iterable of requests, read it only as fast as they can answer, and yield ``(position, response)`` in the order
in which answers arrive. A request that cannot be answered yields a response with a failure; only an engine that
cannot work at all raises :class:`~proctor.errors.EngineError`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from proctor.artifacts import NON_POSITIONAL, Artifact, to_data
from proctor.errors import UnsupportedRequestError
from proctor.ir import Generate, Prompt, Response, Score, content_key

if TYPE_CHECKING:
    from proctor.engines.inference import OnFailure, Predictions, Row

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
    def answers_in_order(self) -> bool:
        """Whether answers depend on the place of a request rather than on the request (a list of recorded answers).

        A run then asks for every instance, in order, and takes nothing from the response log.
        """
        return False

    @property
    def only_chats(self) -> bool:
        """Whether prompts reach the model as chat messages in any case: a text is then one message of the user's."""
        return False

    @property
    def label(self) -> str:
        """What people call this engine, in tables and file names."""
        return str(getattr(self, "model", None) or getattr(self, "model_name", None) or self.type_name())

    @property
    def price_name(self) -> str:
        """What price tables call this engine: the model, after its provider and a slash where there is one."""
        return self.label

    @property
    def is_billed(self) -> bool:
        """Whether somebody else's computer answers, so that answers probably cost something."""
        return False

    @property
    def policy(self) -> list[str] | None:
        """The classes of data that may be sent to this engine; ``None`` where all may."""
        from proctor.data.policy import policy_of

        return policy_of(self)

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return how to decode what a request leaves open, by the names of :class:`~proctor.ir.Decoding`."""
        return {}

    def count_tokens(self, prompt: Prompt) -> int | None:  # noqa: ARG002 - the protocol
        """Return how many tokens the model reads of a prompt; ``None`` where the engine cannot tell without asking."""
        return None

    def generate(self, requests: Iterable[Generate]) -> Answers:  # noqa: ARG002 - the protocol
        """Answer generation requests."""
        raise UnsupportedRequestError(f"the engine '{self.label}' cannot generate text")

    def score(self, requests: Iterable[Score]) -> Answers:  # noqa: ARG002 - the protocol
        """Answer requests for log-likelihoods; one :class:`~proctor.ir.Scored` per pair."""
        raise UnsupportedRequestError(
            f"the engine '{self.label}' cannot score continuations",
            why="it gives no log-probabilities for text it did not write",
            hint="use hf, smollm2, vllm, or openai with endpoint=completions on a server that echoes (vLLM, SGLang); "
            "or the generate form of the exam, where it has one",
        )

    # -- predictions for a dataset; see proctor.engines.inference ------------------------------------------------

    def __call__(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return a prediction for each row; see :func:`proctor.engines.inference.infer`."""
        return self.infer(dataset, return_meta_data, on_failure)

    def infer(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return a prediction for each row; see :func:`proctor.engines.inference.infer`."""
        from proctor.engines.inference import infer

        return infer(self, dataset, return_meta_data, on_failure)

    def infer_log_probs(
        self, dataset: Iterable[Row], return_meta_data: bool = False, on_failure: OnFailure = "raise"
    ) -> Predictions[Any]:
        """Return the generated tokens of each row; see :func:`proctor.engines.inference.infer_log_probs`."""
        from proctor.engines.inference import infer_log_probs

        return infer_log_probs(self, dataset, return_meta_data, on_failure)

    def select(self, dataset: Iterable[Row], on_failure: OnFailure = "raise") -> list[dict[str, Any]]:
        """Return the rows with their most likely option; see :func:`proctor.engines.inference.select`."""
        from proctor.engines.inference import select

        return select(self, dataset, on_failure)

    def close(self) -> None:
        """Release what the engine holds (memory, connections); it may be used again afterwards."""
