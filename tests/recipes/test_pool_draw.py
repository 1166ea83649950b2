import pytest

from proctor.demos import DemoPool, RandomSampler, Sampler
from proctor.errors import DemosError
from proctor.formats import EmptySystemPrompt, SystemFormat
from proctor.randomness import seeded
from proctor.recipes.plan import Plan
from proctor.recipes.pool_draw import PoolDraw
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TASK = Task(input_fields={"a": "int"}, reference_fields={}, prediction_type="str", metrics=[])
TEMPLATE = InputOutputTemplate(input_format="{a}", output_format="")
POOL = DemoPool({"input_fields": {"a": number}} for number in range(6))


def draw(**more):
    return PoolDraw(Plan(None, TASK, (TEMPLATE,), SystemFormat(), EmptySystemPrompt(), **more), dict)


def drawn(number, pool=POOL, **more):
    given = {"sampler": RandomSampler(), "num_demos": 2, **more}
    return [each["input_fields"]["a"] for each in draw(**given).demos_of({"input_fields": {"a": number}}, pool)]


def test_an_instance_is_never_shown_itself_and_always_the_same():
    for number in range(6):
        assert number not in drawn(number, num_demos=5)
        assert drawn(number) == drawn(number)
    assert len({tuple(drawn(number)) for number in range(6, 30)}) > 5


def test_seeds_change_the_draw():
    own = [drawn(number) for number in range(20)]
    assert own != [drawn(number, sampling_seed=1) for number in range(20)]
    with seeded(7):
        assert own != [drawn(number) for number in range(20)]


def test_the_number_of_demos_is_drawn_by_instance():
    counts = [len(drawn(number, num_demos=(0, 2, 3))) for number in range(10, 60)]
    assert set(counts) == {0, 2, 3}
    assert counts == [len(drawn(number, num_demos=(0, 2, 3))) for number in range(10, 60)]


def test_a_sampler_may_choose_whom_it_draws_from():
    class Late(Sampler):
        def filter_source_by_instance(self, instances_pool, instance):
            return [each for each in instances_pool if each["input_fields"]["a"] > 3]

        def sample(self, sample_size, instances_pool, instance, sampling_seed=None):
            return instances_pool[:sample_size]

    assert drawn(0, sampler=Late()) == [4, 5]


def test_demos_that_a_row_brings_along():
    brought = {"input_fields": {"a": 1}, "demos": [{"input_fields": {"a": 9}}]}
    assert draw(num_demos=1, skip_demoed_instances=True).demos_of(brought, None) == [{"input_fields": {"a": 9}}]
    with pytest.raises(DemosError, match="there is no pool"):
        draw(num_demos=1).demos_of(brought, None)


def test_what_is_lacking_is_said():
    assert draw(num_demos=0).demos_of({"input_fields": {"a": 1}}, None) == ()
    with pytest.raises(DemosError, match="6 demos are asked of a pool with 5 candidates"):
        drawn(3, num_demos=6)
    assert len(drawn(3, num_demos=5)) == 5
    with pytest.raises(DemosError, match="a sampler is needed"):
        drawn(3, sampler=None)
