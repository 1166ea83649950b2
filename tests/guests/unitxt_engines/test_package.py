"""What ``proctor.guests.unitxt.engines`` offers."""

import pytest

import proctor.guests.unitxt.engines
from proctor.artifacts.names import snake_case
from proctor.artifacts.registry import builtin_types, registry
from proctor.engines.engine import Engine


@pytest.mark.parametrize("name", proctor.guests.unitxt.engines.__all__)
def test_every_name_is_there_and_is_what_saved_engines_name(name):
    cls = getattr(proctor.guests.unitxt.engines, name)
    assert cls.__name__ == name
    if issubclass(cls, Engine):  # one name is a mixin for engines of users' own
        assert registry.get(snake_case(name)) is cls


def test_every_engine_of_the_room_that_can_be_saved_is_offered():
    places = [place for place in builtin_types().values() if place.startswith("proctor.guests.unitxt.engines.")]
    bases = {"UnitxtHFEngine", "UnitxtProviderEngine", "WMLInferenceEngineBase"}
    names = {place.rpartition(":")[2] for place in places}
    assert names - bases == set(proctor.guests.unitxt.engines.__all__) - {"OptionSelectingByLogProbsInferenceEngine"}
