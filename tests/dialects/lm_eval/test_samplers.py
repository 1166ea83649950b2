from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.samplers import BalancedSampler, FirstSampler, StreamSampler, make_sampler
from proctor.errors import DemosError

POOL = [{"q": number} for number in range(20)]


def test_one_stream_over_all_documents():
    sampler, random = StreamSampler(POOL, 1234, draws_one_more=False), Random(1234)
    for number in range(30):
        expected = random.sample(POOL, 3)
        assert [POOL[place] for place in sampler.draw(3, {"q": 100 + number})] == expected


def test_the_document_itself_is_left_out_as_upstream_does_it():
    sampler, random = StreamSampler(POOL, 7, draws_one_more=True), Random(7)
    for doc in POOL:
        expected = [each for each in random.sample(POOL, 4) if each != doc][:3]
        assert [POOL[place] for place in sampler.draw(3, doc)] == expected


def test_duplicates_of_the_document_are_drawn_around():
    pool = [{"q": 0}] * 15 + [{"q": 1}, {"q": 2}]
    sampler, random = StreamSampler(pool, 3, draws_one_more=True), Random(3)
    for _ in range(20):
        found = [pool[place] for place in sampler.draw(2, {"q": 0})]
        expected = [each for each in random.sample(pool, 3) if each != {"q": 0}][:2]
        if len(expected) < 2:
            expected = random.sample([each for each in pool if each != {"q": 0}], 2)
        assert found == expected


@given(seed=st.integers(0, 10_000), count=st.integers(1, 5), one_more=st.booleans())
def test_a_document_is_never_shown_itself(seed, count, one_more):
    sampler = StreamSampler(POOL, seed, draws_one_more=one_more)
    for doc in POOL:
        drawn = sampler.draw(count, doc)
        assert len(set(drawn)) == count
        assert doc not in [POOL[place] for place in drawn]


def test_replacing_a_leak_changes_no_other_document():
    leaky, clean = StreamSampler(POOL, 5, draws_one_more=False), StreamSampler(POOL, 5, draws_one_more=False)
    for doc in POOL:
        ours, theirs = leaky.draw(3, doc), clean.draw(3, {"q": -1})
        kept = [place for place in theirs if POOL[place] != doc]
        assert list(ours)[: len(kept)] == kept


@given(seed=st.integers(0, 10_000), count=st.integers(1, 5))
def test_equal_documents_of_another_split_stay_as_upstream_has_them(seed, count):
    sampler, random = StreamSampler(POOL, seed, draws_one_more=False, holds_asked=False), Random(seed)
    for doc in POOL:
        assert [POOL[place] for place in sampler.draw(count, doc)] == random.sample(POOL, count)
    assert FirstSampler(POOL, holds_asked=False).draw(3, {"q": 1}) == [0, 1, 2]
    whole = StreamSampler(POOL[:2], seed, draws_one_more=False, holds_asked=False)
    assert sorted(whole.draw(2, POOL[0])) == [0, 1]  # the pool is not too small


@pytest.mark.parametrize("kind", ["default", "first_n", "balanced"])
@pytest.mark.parametrize("holds_asked", [True, False])
def test_samplers_know_whether_the_pool_holds_what_is_asked(kind, holds_asked):
    sampler = make_sampler(kind, POOL[:4], 1, own_split=False, holds_asked=holds_asked, label=lambda doc: doc["q"] % 2)
    drawn = {place for doc in POOL[:4] for place in sampler.draw(3, doc) if POOL[place] == doc}
    assert bool(drawn) is not holds_asked


def test_the_same_seed_draws_the_same():
    draws = [[StreamSampler(POOL, 9, draws_one_more=False).draw(4, doc) for doc in POOL] for _ in range(2)]
    assert draws[0] == draws[1]


def test_first_n():
    sampler = FirstSampler(POOL)
    assert sampler.draw(3, {"q": 99}) == [0, 1, 2]
    assert sampler.draw(3, {"q": 1}) == [0, 2, 3]


def test_balanced():
    pool = [{"q": number, "label": "rare" if number % 10 == 0 else "common"} for number in range(40)]
    sampler = BalancedSampler(pool, 1, lambda doc: doc["label"])
    for doc in pool[:10]:
        drawn = sampler.draw(4, doc)
        assert Counter(pool[place]["label"] for place in drawn) == {"rare": 2, "common": 2}
        assert doc not in [pool[place] for place in drawn]
    assert len(sampler.draw(30, pool[0])) == 30


def test_a_pool_that_is_too_small():
    for sampler in (
        StreamSampler(POOL[:2], 1, draws_one_more=False),
        StreamSampler(POOL[:2], 1, draws_one_more=True),
        FirstSampler(POOL[:2]),
        BalancedSampler(POOL[:2], 1, lambda doc: 1),
    ):
        with pytest.raises(DemosError, match="from a pool of"):
            sampler.draw(3, {"q": 99})
    with pytest.raises(DemosError):
        StreamSampler(POOL[:2], 1, draws_one_more=False).draw(2, POOL[0])


def test_an_unknown_sampler():
    with pytest.raises(DemosError, match="no sampler 'frist_n'") as caught:
        make_sampler("frist_n", POOL, 1, own_split=False, label=lambda doc: 1)
    assert "first_n" in str(caught.value)


def test_a_sampler_of_the_task():
    class Last:
        def __init__(self, docs, rnd=None):
            self.docs = docs

        def sample(self, n, eval_doc=None):
            return [doc for doc in self.docs if doc != eval_doc][-n:]

    sampler = make_sampler(Last, POOL, 1, own_split=True, label=lambda doc: 1)
    assert sampler.draw(2, POOL[-1]) == [17, 18]
