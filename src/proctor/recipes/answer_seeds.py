"""Seeds of answers: each derives from the seed of the run and from the repeat."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from proctor.ir import Converse, Generate, Request
from proctor.randomness import digest32


def with_seeds(requests: Sequence[Request], seed: int, repeat: int, *, draws: bool) -> tuple[Request, ...]:
    """Return requests whose answers are drawn with seeds of their own, derived from the run's and from the repeat.

    Args:
        requests: Of one question.
        seed: The run's.
        repeat: How often the question stands before this place, where each repeat is a question of its own.
        draws: Whether the engine draws answers by itself where a request does not say.
    """
    seen: dict[str, int] = {}
    found = []
    for request in requests:
        if is_drawn(request, draws=draws):
            number = seen[request.key] = seen.get(request.key, -1) + 1
            found.append(seeded_request(request, derived_seed(seed, repeat + number)))
        else:
            found.append(request)
    return tuple(found)


def is_drawn(request: Request, *, draws: bool) -> bool:
    """Return whether an answer is drawn and nobody has said with which seed; ``draws`` as in :func:`with_seeds`."""
    if not isinstance(request, Generate | Converse) or request.decoding.seed is not None:
        return False
    return request.decoding.temperature > 0 or draws


def seeded_request(request: Request, seed: int) -> Request:
    """Return a request whose answer is drawn with a seed; one that writes nothing as it is."""
    if not isinstance(request, Generate | Converse):
        return request
    return structs.replace(request, decoding=structs.replace(request.decoding, seed=seed))


def derived_seed(seed: object, repeat: int) -> int:
    """Return the seed of one repeat: 31 bits, which every server takes."""
    return digest32(f"answer {seed}/{repeat}") & 0x7FFFFFFF
