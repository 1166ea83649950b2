import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.statistics.confusion import matthews, matthews_of_labels

LABELS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abcd")), min_size=1, max_size=40)


@pytest.mark.filterwarnings("ignore:A single label")
@given(LABELS)
def test_it_is_scikit_learns_to_the_last_bit(pairs):
    sklearn = pytest.importorskip("sklearn.metrics")
    golds, predictions = zip(*pairs, strict=True)
    assert matthews_of_labels(golds, predictions).hex() == float(sklearn.matthews_corrcoef(golds, predictions)).hex()


def test_labels_may_be_numbers():
    assert matthews_of_labels([1, 0, 1, 0], [1, 0, 1, 1]) == pytest.approx(0.5773502691896258)
    assert matthews_of_labels([1, 1], [1, 1]) == 0.0


def test_many_at_once_are_each_alone():
    hits = np.array([2.0, 1.0])
    wanted, given_ = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    found = matthews(hits, wanted, given_)
    assert found.tolist() == [float(matthews(hits[i], wanted[i], given_[i])) for i in range(2)]
