"""LlamaIndex' evaluators, and the model that they ask: one that hands its messages on.

The package is imported when a function here is called.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from proctor.errors import UsageError
from proctor.ir import Message

if TYPE_CHECKING:
    from llama_index.core.evaluation import BaseEvaluator
    from llama_index.core.llms import ChatMessage, ChatResponse, CompletionResponse, CustomLLM, LLMMetadata

Answering = Callable[[Sequence[Message]], Coroutine[Any, Any, str]]
"""Answers the messages of one question."""


def asking_model(answering: Answering, name: str, context_window: int) -> CustomLLM:
    """Return a chat model of LlamaIndex that hands messages on.

    Args:
        answering: What answers them.
        name: The model's name, by which evaluators may choose their prompt.
        context_window: Tokens that fit into one question; contexts that do not are asked about in several.
    """
    return _model_class()(answering, name, context_window)


@cache
def _model_class() -> Callable[[Answering, str, int], CustomLLM]:
    from llama_index.core.llms import ChatMessage, ChatResponse, CustomLLM, LLMMetadata, MessageRole

    class AskingModel(CustomLLM):  # type: ignore[misc]  # mypy does not follow optional packages
        def __init__(self, answering: Answering, name: str, context_window: int) -> None:
            super().__init__()
            self._answering = answering
            self._metadata = LLMMetadata(context_window=context_window, is_chat_model=True, model_name=name)

        @property
        def metadata(self) -> LLMMetadata:
            return self._metadata

        @override
        async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
            said = await self._answering(
                [{"role": each.role.value, "content": each.content or ""} for each in messages]
            )
            return ChatResponse(message=ChatMessage(role=MessageRole.ASSISTANT, content=said))

        @override
        def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
            raise UsageError("a judge of LlamaIndex is asked by messages, in rounds")

        stream_complete = complete

    return AskingModel


def echo() -> CustomLLM:
    """Return the model that repeats its question, after a 5: whoever reads a number reads the best score."""
    from llama_index.core.llms import MockLLM

    return MockLLM(system_prompt="5")


def correctness(model: CustomLLM, parser: Callable[[str], tuple[float, str]]) -> BaseEvaluator:
    """Return LlamaIndex' evaluator of correctness, whose answers ``parser`` reads."""
    from llama_index.core.evaluation import CorrectnessEvaluator

    return CorrectnessEvaluator(llm=model, parser_function=parser)


def faithfulness(model: CustomLLM) -> BaseEvaluator:
    """Return LlamaIndex' evaluator of faithfulness."""
    from llama_index.core.evaluation import FaithfulnessEvaluator

    return FaithfulnessEvaluator(llm=model)
