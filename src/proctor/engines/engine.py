"""The one seam between exams and models.

An engine answers requests. It implements one or two methods, :meth:`Engine.generate` and :meth:`Engine.score`; both
take an iterable of requests, read it only as fast as they can answer, and yield ``(position, response)`` in the order
in which answers arrive. A request that cannot be answered yields a response with a failure; only an engine that
cannot work at all raises :class:`~proctor.errors.EngineError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from proctor.artifacts import NON_POSITIONAL, Artifact, registry, to_data
from proctor.data.policy import policy_of
from proctor.effects import Effect
from proctor.engines.inference import Predicting
from proctor.engines.thoughts import UNKNOWN, Marks, heard, marks_of, opening_of
from proctor.errors import UnsupportedRequestError
from proctor.ir import Answers, Generate, Prompt, Response, Score, content_key
from proctor.settings import settings

if TYPE_CHECKING:
    from proctor.engines.http.rate_limits import Take

_TOP_TOKENS = 5  # what Unitxt's engines ask for (n_top_tokens), and the most that OpenAI's completions give


class Engine(Predicting, Artifact):
    """A model backend.

    Subclasses name in ``transient_fields`` what changes how fast answers come but not what they are (batch size,
    concurrency, time-outs); everything else is part of :attr:`identity`.
    """

    transient_fields: ClassVar[frozenset[str]] = frozenset({"data_classification_policy"})
    can_generate: ClassVar[bool] = True
    can_score: ClassVar[bool] = False
    loads_model: ClassVar[bool] = False
    """Whether it loads a model into this process, so that the device matters."""

    data_classification_policy: Annotated[list[str] | None, NON_POSITIONAL] = None

    typed_fields: ClassVar[frozenset[str]] = frozenset()
    """Fields that the user said himself of an engine that a file describes."""
    is_of_config: ClassVar[bool] = False
    """Whether it is a model of a config: these name servers on the user's own machine as a rule."""

    @property
    def identity(self) -> str:
        """A digest of everything that decides what this engine answers; equal engines share answers in the log."""
        return content_key("engine", self.identity_type, self.identity_values())

    @property
    def identity_type(self) -> str:
        """The kind of engine in :attr:`identity`: several may be one and the same to answers."""
        return self.type_name()

    def identity_values(self) -> dict[str, Any]:
        """Return the values that :attr:`identity` digests: every field that is not transient, defaults included."""
        return {
            name: to_data(getattr(self, name))
            for name in sorted(type(self).model_fields)
            if name not in self.transient_fields
        }

    @property
    def earlier_identities(self) -> tuple[str, ...]:
        """Identities of this very engine in earlier versions."""
        return ()

    @property
    def server_addresses(self) -> tuple[str, ...]:
        """The addresses of the servers that have the model, where these are not a part of :attr:`identity`."""
        return ()

    @property
    def is_told_apart(self) -> bool:
        """Whether the user says himself which model it is."""
        return False

    def says_of_itself(self, address: str) -> str | None:
        """Return what a server of :attr:`server_addresses` says of its model; ``None`` where it is away."""
        del address
        return ""

    def check_access(self) -> None:
        """Check that it has what asking takes (a key, an address), without asking anybody.

        Raises:
            ProctorError: It lacks something.
        """

    def check_servers_by(self, check: Callable[[str], None]) -> None:
        """Have servers checked that come while it answers; ``check`` raises why one is not asked."""

    def at(self, address: str) -> Engine:
        """Return this engine as it would ask one of :attr:`server_addresses` alone."""
        del address
        return self

    def is_model_of(self, values: Mapping[str, Any]) -> bool:
        """Whether the values of an identity, of this version or an earlier one, are those of this very model."""
        return values == self.identity_values()

    @property
    def answers_in_order(self) -> bool:
        """Whether answers depend on the place of a request rather than on the request (a list of recorded answers).

        A run then asks for every instance, in order, and takes nothing from the response log.
        """
        return False

    @property
    def takes_time(self) -> bool:
        """Whether an answer takes longer than filing it: processes that share a log then divide its questions."""
        return True

    def share_rates(self, take: Take | None) -> None:
        """Keep limits per minute, where there are some, together with other processes from now on."""

    @property
    def draws_alike(self) -> bool:
        """Whether it draws equal answers to equal requests, so that repeats need seeds of their own."""
        return False

    @property
    def only_chats(self) -> bool:
        """Whether prompts reach the model as chat messages in any case: a text is then one message of the user's."""
        return False

    @property
    def has_chat_template(self) -> bool:
        """Whether the model was made for chats and reads a text as it stands all the same, unless it is laid out."""
        return False

    @property
    def takes_chats(self) -> bool:
        """Whether prompts may be chat messages; else each is one string."""
        return True

    @property
    def scores_chats(self) -> bool:
        """Whether it gives the loss of chat messages, and not only of texts."""
        return False

    @property
    def label(self) -> str:
        """The engine's name in tables and files."""
        return str(getattr(self, "model", None) or getattr(self, "model_name", None) or self.type_name())

    @property
    def price_name(self) -> str:
        """The name in price tables: the model, after its provider and a slash where there is one."""
        return self.label

    @property
    def is_billed(self) -> bool:
        """Whether somebody else's computer answers, so that answers probably cost something."""
        return False

    @property
    def starts_programs(self) -> bool:
        """Whether it starts programs, or workers that speak to each other: the wall then holds their files alone."""
        return False

    @property
    def most_at_once(self) -> int:
        """The number of requests in flight at the same time; 1 where the engine cannot say."""
        return 1

    @property
    def policy(self) -> list[str] | None:
        """The classes of data that may be sent to this engine; ``None`` where all may."""
        return policy_of(self)

    @property
    def top_tokens(self) -> int:
        """The number of alternatives to each token, where log-probabilities are wanted."""
        return _TOP_TOKENS

    @property
    def thought_marks(self) -> Marks:
        """The marks with which the model begins and ends its thoughts, as its name tells."""
        return marks_of(self.label)

    @property
    def keeps_thoughts(self) -> bool:
        """Whether the turns of a conversation carry the model's thoughts, too."""
        return False

    def heard(self, response: Response, prompt: Prompt | None = None) -> Response:
        """Return a response whose texts are answers; what the model thought is put aside.

        Args:
            response: What the model wrote.
            prompt: What it was asked, where that is known: it may begin the thoughts.
        """
        marks = self.thought_marks
        return heard(response, marks, UNKNOWN if prompt is None else opening_of(prompt, marks))

    def hearing(self) -> Callable[[Response, Prompt], Response]:
        """Return :meth:`heard` for many responses, while the engine stays as it is."""
        marks = self.thought_marks
        return lambda response, prompt: heard(response, marks, opening_of(prompt, marks))

    def answering(self) -> Engine:
        """Return the engine that answers: itself, or the one that ``settings.engine_map`` puts in its place."""
        if not (settings.engine_map or settings.mock_inference_mode):
            return self
        found: Engine = registry.get("stand_in").in_place_of(self)
        return found

    def about(self, response: Response) -> Mapping[str, Any]:
        """Return facts about an answer, by the fields of ``TextGenerationInferenceOutput``."""
        known: dict[str, Any] = {}
        if response.failure is None:
            known = {
                "input_tokens": response.usage.of_answer[0],
                "output_tokens": response.usage.of_answer[1],
                "stop_reason": response.finish_reasons[0] if response.finish_reasons else None,
            }
        about = {
            "seed": getattr(self, "seed", None),
            "model_name": self.label,
            "inference_type": str(getattr(self, "inference_label", None) or self.type_name()),
        }
        return {name: value for name, value in {**known, **about}.items() if value is not None}

    def would_do(self) -> list[Effect]:
        """Return the effects that it would have if a file described all of it, whoever does."""
        return list(self.effects())

    def come_from(self, other: Engine) -> None:
        """Take over from another engine who said what of it."""
        object.__setattr__(self, "typed_fields", other.typed_fields)
        object.__setattr__(self, "is_of_config", other.is_of_config)

    def decoding_defaults(self) -> Mapping[str, Any]:
        """Return the decoding of what a request leaves open, by the names of :class:`~proctor.ir.Decoding`."""
        return {}

    def facts(self) -> Mapping[str, Any]:
        """Return facts about the model, without asking or loading it, by the names of lm-eval's result files.

        ``model_num_parameters``, ``model_dtype``, ``model_revision``, ``model_sha``, ``batch_size``, ``device``,
        ``max_length`` in tokens, ``tokenizer_pad_token`` and its kin, ``eot_token_id``, ``chat_template``.
        """
        return {}

    def count_tokens(self, prompt: Prompt) -> int | None:  # noqa: ARG002 - the protocol
        """Return how many tokens the model reads of a prompt; ``None`` where the engine cannot tell without asking."""
        return None

    def cached(self, prompts: Sequence[Prompt]) -> tuple[int, int]:  # noqa: ARG002 - the protocol
        """Return how many bytes of prompts a provider's cache is told to keep, and how many it then finds there."""
        return 0, 0

    def text_of(self, prompt: Prompt) -> Any:
        """Return the text that the model reads of a prompt; ``None`` where its server makes it, or it has pictures."""
        return prompt.payload if isinstance(prompt.payload, str) else None

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

    def close(self) -> None:
        """Release what the engine holds (memory, connections); it may be used again afterwards."""
