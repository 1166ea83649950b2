"""Retrieval by the embeddings of texts."""
# ruff: noqa: ARG002 - retrievers are called with all there is

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Annotated, Any, ClassVar, cast

from proctor.artifacts import NON_POSITIONAL
from proctor.demos.retrievers import Corpus, LabelPrompts, Positions, Ranker, RankingRetriever, Repeated
from proctor.demos.samplers import Instance
from proctor.errors import DemosError, needed
from proctor.settings import model_folder

BLOCK = 256
"""Texts whose similarities to all others are in memory at a time."""


class TopkRetriever(RankingRetriever):
    """Shows what is most like the test row by the inner product of embeddings, the best first.

    Attributes:
        sentence_transformers_model_name: A model of sentence-transformers: a folder, or a name that settings map to
            one. Nothing is downloaded.
        tokenizer_name: Accepted because configs have it. (OpenCompass sends texts through this tokenizer and back,
            which cuts texts of more than 1,024 tokens.)
        batch_size: Texts that are embedded at a time.
    """

    ranks_rows_alone: ClassVar[bool] = True

    sentence_transformers_model_name: str = "all-mpnet-base-v2"
    tokenizer_name: str = "gpt2-xl"
    batch_size: int = 1

    def ranker(self, index: Corpus) -> Ranker:
        """Read an index."""
        self._check_size(self.ice_num, index)
        return Nearest(self, index.texts)

    def embed(self, texts: Sequence[str]) -> Any:
        """Return the embeddings of texts, one row each, as 32-bit numbers.

        Raises:
            MissingExtraError: sentence-transformers is not installed.
            DemosError: The model is not on this machine.
        """
        import numpy as np

        model = self._model()
        found = model.encode(list(texts), batch_size=max(self.batch_size, 32), show_progress_bar=False)
        return np.asarray(found, dtype=np.float32)

    def _model(self) -> Any:
        if not hasattr(self, "_loaded"):
            self._loaded: Any = load_embedding_model(self.sentence_transformers_model_name)
        return self._loaded


class Nearest:
    """An index of embeddings."""

    def __init__(self, retriever: TopkRetriever, texts: Sequence[str]) -> None:
        self._retriever = retriever
        self.embeddings = retriever.embed(texts)

    def best(self, texts: Sequence[str], count: int) -> list[Positions]:
        """Return for every text the positions with the largest inner products; of equals the earlier first."""
        return self.nearest(self._retriever.embed(texts), count)

    def nearest(self, queries: Any, count: int) -> list[Positions]:
        """Return the positions for embeddings."""
        import numpy as np

        made: list[Positions] = []
        for start in range(0, len(queries), BLOCK):
            similarities = queries[start : start + BLOCK] @ self.embeddings.T
            order = np.argsort(-similarities, axis=1, kind="stable")[:, :count]
            made += map(tuple, order.tolist())
        return made


class DPPRetriever(TopkRetriever):
    """Shows a varied choice of what is most like the test row (Ye et al., arXiv 2302.05698).

    Attributes:
        candidate_num: How many of the nearest rows are chosen from; at least ``ice_num``.
        seed: Accepted because configs have it; nothing is drawn.
        scale_factor: Small values favour likeness, large ones variety.
    """

    candidate_num: int = 1
    seed: int = 1
    scale_factor: float = 0.1

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return for everybody a choice from the nearest rows, the most alike first."""
        if not len(test):
            return []
        self._check_size(max(self.candidate_num, self.ice_num), index)
        nearest = Nearest(self, index.texts)
        queries = self.embed(test.texts)
        found = nearest.nearest(queries, max(self.candidate_num, self.ice_num))
        return [
            tuple(near[place] for place in self._choose(query, nearest.embeddings[list(near)], self.ice_num))
            for query, near in zip(queries, found, strict=True)
        ]

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return ``sample_size`` of the ``candidate_num`` nearest instances of the pool, the most alike first."""
        candidates = max(self.candidate_num, sample_size)
        self._check_size(candidates, Corpus(instances_pool, self._words))
        near = super().sample(candidates, instances_pool, instance, sampling_seed)
        query, *vectors = self.embed([self._words(each) for each in (instance, *near)])
        return [near[place] for place in self._choose(query, vectors, sample_size)]

    def _choose(self, query: Any, vectors: Any, count: int) -> list[int]:
        """Return places of ``count`` of the vectors, the most alike first."""
        import numpy as np

        if not count:
            return []
        query = query / np.linalg.norm(query)
        vectors = vectors / np.linalg.norm(vectors, keepdims=True, axis=1)
        relevance = (vectors @ query + 1) / 2
        relevance = np.exp((relevance - relevance.max()) / (2 * self.scale_factor))
        kernel = relevance[None] * ((vectors @ vectors.T + 1) / 2) * relevance[:, None]
        chosen = np.array(most_diverse(kernel, count))
        return [int(place) for place in chosen[np.argsort(-relevance[chosen], kind="stable")]]


def most_diverse(kernel: Any, count: int) -> list[int]:
    """Return places that span the largest volume, found greedily.

    The source is Chen, Zhang and Zhou, Fast Greedy MAP Inference for Determinantal Point Process, 2018.

    Args:
        kernel: A symmetric matrix: likeness weighted by relevance.
        count: How many places.
    """
    import numpy as np

    size = len(kernel)
    rows = np.zeros((count, size))
    volumes = np.copy(np.diag(kernel)).astype(float)
    chosen = [int(np.argmax(volumes))]
    while len(chosen) < min(count, size):
        done, latest = len(chosen) - 1, chosen[-1]
        scale = math.sqrt(max(volumes[latest], 1e-300))
        rows[done] = (kernel[latest] - rows[:done, latest] @ rows[:done]) / scale
        volumes -= np.square(rows[done])
        volumes[chosen] = -np.inf  # rounding must not choose a place twice
        chosen.append(int(np.argmax(volumes)))
    return chosen


class VotekRetriever(TopkRetriever):
    """Shows everybody the same rows: those that stand for most others (Su et al., arXiv 2209.01975).

    Attributes:
        votek_k: For how many of its neighbours each row votes.
        seed: Of the draw that fills up where too few are elected; upstream's is fixed.
    """

    is_random: ClassVar[bool] = True
    votek_k: int = 3
    seed: Annotated[int, NON_POSITIONAL] = 0

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return the same rows for everybody."""
        self._check_size(self.ice_num, index)
        if not len(test):
            return []
        return Repeated(tuple(elected(self.embed(index.texts), self.ice_num, self.votek_k, self.seed)), len(test))

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return the ``sample_size`` instances that stand for most others of the pool."""
        self._check_size(sample_size, Corpus(instances_pool, self._words))
        index = cast(Nearest, self._index_of(instances_pool))
        seed = self.seed if sampling_seed is None else sampling_seed
        return [instances_pool[place] for place in elected(index.embeddings, sample_size, self.votek_k, seed)]


def elected(embeddings: Any, count: int, votes_each: int, seed: int = 0) -> list[int]:
    """Return the rows with most votes whose voters are not all taken; the rest is drawn.

    Args:
        embeddings: One row each.
        count: How many rows.
        votes_each: For how many neighbours a row votes.
        seed: Of the draw.
    """
    voters: dict[int, list[int]] = {}
    for row, neighbours in enumerate(_neighbours(embeddings, votes_each)):
        for each in neighbours:
            if each != row:
                voters.setdefault(each, []).append(row)
    ranked = sorted(voters.items(), key=lambda item: len(item[1]), reverse=True)
    chosen: list[int] = []
    earlier: list[set[int]] = []
    for candidate, votes in ranked:
        if len(chosen) == count:
            break
        mine = set(votes)
        if not any(mine <= other for other in earlier):
            chosen.append(candidate)
        earlier.append(mine)
    if len(chosen) < count:
        taken = set(chosen)
        rest = [row for row in range(len(embeddings)) if row not in taken]
        chosen += Random(seed).sample(rest, count - len(chosen))
    return chosen


def _neighbours(embeddings: Any, count: int) -> list[list[int]]:
    """Return for each row its nearest by cosine, the nearest last, without the very nearest (itself)."""
    import numpy as np

    norms = np.linalg.norm(embeddings, axis=1, keepdims=True)
    unit = embeddings / np.where(norms == 0, 1, norms)
    made: list[list[int]] = []
    for start in range(0, len(unit), BLOCK):
        order = np.argsort(unit[start : start + BLOCK] @ unit.T, axis=1, kind="stable")
        made += order[:, -count - 1 : -1].tolist()
    return made


def load_embedding_model(name: str) -> Any:
    """Return a model of sentence-transformers that is on this machine.

    Raises:
        MissingExtraError: sentence-transformers is not installed.
        DemosError: There is no such model here.
    """
    with needed("sentence-transformers", "embeddings", "retrieval by embeddings"):
        from sentence_transformers import SentenceTransformer
    folder = model_folder(name) or model_folder(f"sentence-transformers/{name}") or name
    try:
        return SentenceTransformer(str(folder), trust_remote_code=False, local_files_only=True)
    except (OSError, ValueError) as error:
        raise DemosError(
            f"the embedding model '{name}' is not on this machine",
            path="$.retriever.sentence_transformers_model_name",
            why=str(error).partition("\n")[0],
            hint="give a folder, or map the name: PROCTOR_MODELS_DIR=<dir> looks for <dir>/<name>",
        ) from None
