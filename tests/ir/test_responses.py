from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Usage, total_usage

COUNTS = st.integers(0, 9)


@given(st.lists(st.builds(Usage, COUNTS, COUNTS, COUNTS, COUNTS)))
def test_tokens_of_many_answers_are_those_that_they_have_one_after_the_other(usages):
    assert total_usage(usages) == sum(usages, Usage())
    assert total_usage(iter(usages)) == sum(usages, Usage())
