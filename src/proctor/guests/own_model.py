"""A function of the user's that answers: ``--model app.py:answer``, an application or a model of any kind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import cached_property, partial
from inspect import isawaitable, iscoroutinefunction
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final
from uuid import uuid4

from proctor.artifacts import NON_POSITIONAL
from proctor.engines.engine import Engine
from proctor.engines.http.background import Answering, answer_in_background
from proctor.errors import UsageError
from proctor.guests.own_code import named_in, parameters_of
from proctor.ir import Answers, Failure, Generate, Media, Response
from proctor.ir.responses import Timing
from proctor.logs import say_once
from proctor.recipes.held_code import code_of_file
from proctor.secrets import cleaned, redacted

_SEEN: Final[Mapping[str, Callable[[Generate], Any]]] = {
    "prompt": lambda request: request.prompt.text,
    "messages": lambda request: [dict(each) for each in request.prompt.messages],
    "tools": lambda request: request.decoding.extra.get("tools", []),
    **{
        name: partial(lambda name, request: getattr(request.decoding, name), name)
        for name in ("max_tokens", "temperature", "top_p", "stop", "seed")
    },
}
"""What a function is given, by the names of its parameters."""
_OF_DRAWS: Final = ("temperature", "top_p", "seed")
"""Parts of a decoding that make answers vary; a limit and stop strings come with nearly every exam."""
_NO_MEDIA: Final = "a text, and the question has pictures or sounds: with 'messages' it is given them"


class OwnModel(Engine):
    """Answers with a function of a Python file: of a ``prompt``, or of ``messages``, to a text.

    Attributes:
        file: The file; its content, and that of files beside it or in the working folder that it
            imports, is part of the identity.
        function: Its name in the file; needed where the file has several. It may be asynchronous, and may take
            ``max_tokens``, ``temperature``, ``top_p``, ``stop``, ``seed`` and ``tools``, too.
        max_concurrency: How many questions are answered at once, in threads where the function is not asynchronous.
        version: Whatever tells answers apart that the same code gives: the model behind it, the index that it searches.
    """

    transient_fields: ClassVar[frozenset[str]] = Engine.transient_fields | {"file", "max_concurrency"}

    file: str
    function: str = ""
    max_concurrency: int = 1
    version: str = ""

    def prepare(self) -> None:
        """Find the function.

        Raises:
            ProctorError: It is not there, may not run, or wants what models are not given.
        """
        super().prepare()
        called = self._called
        if unknown := [each for each in self._parameters if each not in _SEEN]:
            hint = f"call it 'prompt', or 'messages' for a chat, or wrap it: lambda prompt: f({unknown[0]}=prompt)"
            raise UsageError(f"{called} takes '{unknown[0]}'", why=f"a model is given {', '.join(_SEEN)}", hint=hint)
        if not {"prompt", "messages"} & set(self._parameters):
            raise UsageError(f"{called} takes neither 'prompt' nor 'messages'", why="one of them is the question")
        if self.max_concurrency < 1:
            raise UsageError(f"max_concurrency is {self.max_concurrency}", hint="1 or more")

    @cached_property
    def _found(self) -> tuple[str, Callable[..., Any]]:
        return named_in(self.file, self.function, "model", lambda each: callable(each) and not isinstance(each, type))

    @cached_property
    def _parameters(self) -> list[str]:
        return parameters_of(self._found[1], self._called, frozenset(_SEEN))

    @property
    def _called(self) -> str:
        return f"{self.file}:{self._found[0]}"

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers: the function, and the files that it is in and imports."""
        known = {**super().identity_values(), "function": self._found[0]}
        return {**known, "code": code_of_file(Path(self.file).resolve(), Path.cwd())}

    @property
    def label(self) -> str:
        """The file's name, and the function's."""
        return f"{Path(self.file).stem}:{self._found[0]}"

    @property
    def only_chats(self) -> bool:
        """Whether it takes messages."""
        return "messages" in self._parameters

    @property
    def takes_chats(self) -> bool:
        """Whether it takes messages."""
        return self.only_chats

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer requests; what the function raises is a failure."""

        @asynccontextmanager
        async def opening() -> AsyncIterator[Answering[Generate]]:
            yield self._answered

        return answer_in_background(requests, opening, self.max_concurrency)

    async def _answered(self, request: Generate) -> Response:
        if not self.only_chats and any(isinstance(part, Media) for each in request.prompt.turns for part in each.parts):
            return Response(failure=Failure("engine", f"{self.label} takes a 'prompt', {_NO_MEDIA}", retryable=False))
        if idle := [each for each in _OF_DRAWS if getattr(request.decoding, each) and each not in self._parameters]:
            say_once(f"{self.label} takes no {', '.join(idle)}: it is asked without")
        answer, given = self._found[1], {name: _SEEN[name](request) for name in self._parameters}
        began, clock = time.time(), time.monotonic()
        try:
            said = answer(**given) if iscoroutinefunction(answer) else await asyncio.to_thread(answer, **given)
            said = await said if isawaitable(said) else said
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code
            return Response(failure=Failure("engine", redacted(f"{type(error).__name__}: {error}")))
        if isinstance(said, Response):
            return said
        if not isinstance(said, str):
            return Response(
                failure=Failure("engine", redacted(f"{self.label} gives {said!r:.80}, and no text"), retryable=False)
            )
        timing = Timing(seconds=time.monotonic() - clock, started=began)
        return Response(texts=(cleaned(said),), finish_reasons=("stop",), timing=timing)


class FunctionModel(OwnModel):
    """Answers with a function of the program that runs, asked anew in each run unless ``version`` is said.

    Attributes:
        given: The function.
    """

    transient_fields: ClassVar[frozenset[str]] = OwnModel.transient_fields | {"given"}

    file: str = ""
    given: Annotated[Any, NON_POSITIONAL] = None

    @cached_property
    def _found(self) -> tuple[str, Callable[..., Any]]:
        if self.given is None:
            what = "this model is a function of a program, which no file holds"
            raise UsageError(what, hint="--model FILE.py:NAME names one in a file")
        return getattr(self.given, "__qualname__", type(self.given).__name__), self.given

    @property
    def _called(self) -> str:
        return self._found[0]

    @property
    def label(self) -> str:
        """The function's name."""
        return self._found[0]

    @cached_property
    def _only_now(self) -> str:
        return uuid4().hex

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers: what else a function sees and does, nobody knows."""
        known = {**Engine.identity_values(self), "function": self._found[0]}
        return known if self.version else {**known, "asked": self._only_now}

    def to_dict(self) -> dict[str, Any]:
        """Return the engine as data, without the function."""
        return {name: value for name, value in super().to_dict().items() if name != "given"}
