"""An engine: it needs ``generate``, or ``score``, or both."""

from collections.abc import Iterable
from typing import ClassVar

from proctor.engines import Engine
from proctor.ir import Answers, Generate, Response, Usage


class ShoutingEngine(Engine):
    """Repeats the last line of a prompt in capitals.

    Attributes:
        model: What tables call it. Every field is an argument of ``--model-args`` and part of the engine's identity.
        marks: Exclamation marks after each answer.
    """

    can_generate: ClassVar[bool] = True

    model: str = "shouting"
    marks: int = 0

    def generate(self, requests: Iterable[Generate]) -> Answers:
        """Answer each request; answers may come in any order, each with the position of its request."""
        for position, request in enumerate(requests):
            words = request.prompt.text.rstrip().splitlines()[-1].upper() + "!" * self.marks
            yield position, Response(texts=(words,), usage=Usage(len(request.prompt.text.split()), len(words.split())))
