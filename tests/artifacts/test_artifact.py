import json
from typing import Annotated, Any

import pytest

from proctor.artifacts import NON_POSITIONAL, Artifact, fetch_artifact, registry, to_data
from proctor.artifacts.names import snake_case
from proctor.errors import MissingExtraError, UnknownTypeError, ValidationError


class Engine_(Artifact):
    power: int = 1


class Diesel(Engine_):
    power = 3


class Wheel(Artifact):
    size: float


class Vehicle(Artifact):
    name: str
    engine: Engine_ | None = None
    wheels: list[Wheel] = []
    secret: Annotated[str, NON_POSITIONAL] = ""


@pytest.mark.parametrize(
    "name, expected",
    [
        ("LoadHF", "load_hf"),
        ("F1Binary", "f1_binary"),
        ("LLMAsJudge", "llm_as_judge"),
        ("TaskBasedLLMasJudge", "task_based_ll_mas_judge"),
        ("HFPipelineBasedInferenceEngine", "hf_pipeline_based_inference_engine"),
        ("InputOutputTemplateWithCustomTarget", "input_output_template_with_custom_target"),
    ],
)
def test_type_names_are_those_of_catalogs(name, expected):
    assert snake_case(name) == expected


def test_an_override_keeps_the_type_of_what_it_overrides():
    assert Diesel().power == 3
    with pytest.raises(ValidationError, match="valid integer"):
        Diesel(power="much")


def test_fields_by_position_and_by_name():
    assert Vehicle("a", Diesel()).engine.power == 3
    with pytest.raises(ValidationError, match="at most 3"):
        Vehicle("a", None, [], "x")
    with pytest.raises(ValidationError, match="by position and by name"):
        Vehicle("a", name="b")


def test_a_class_of_defaults_takes_what_it_is_given():
    assert (Engine_().power, Engine_(5).power, Engine_(power=6).power) == (1, 5, 6)
    assert (Engine_(5).to_dict()["power"], "power" in Engine_().to_dict()) == (5, False)
    with pytest.raises(ValidationError):
        Wheel()


def test_an_artifact_has_no_effects_by_itself():
    assert tuple(Engine_().effects()) == ()
    assert (Engine_().author, Engine_().location, Engine_().tags) == (None, None, {})


@pytest.mark.parametrize("length, shown", [(78, f"'{'x' * 78}'"), (79, f"'{'x' * 76}...")])
def test_a_long_value_is_cut_in_messages(length, shown):
    with pytest.raises(ValidationError) as caught:
        Engine_(power="x" * length)
    assert f"the value is {shown}" in str(caught.value)


def test_all_problems_at_once_each_with_its_path():
    with pytest.raises(ValidationError) as caught:
        Vehicle(
            name="x",
            engine={"__type__": "diesel", "powr": 2},
            wheels=[{"__type__": "wheel", "size": 1}, {"__type__": "wheel"}, {"__type__": "weel", "size": 2}],
            colour="red",
        )
    paths = [diagnostic.path for diagnostic in caught.value.diagnostics]
    assert paths == ["$.engine.powr", "$.wheels[1].size", "$.wheels[2]", "$.colour"]
    assert "did you mean 'power'?" in str(caught.value)
    assert "did you mean 'wheel'" in str(caught.value)


def test_assignment_is_validated_and_cuts_the_tie_to_the_catalog():
    vehicle = Vehicle("a")
    object.__setattr__(vehicle, "_artifact_id", "vehicles.a")
    vehicle.engine = {"__type__": "diesel"}
    assert vehicle.engine.power == 3
    assert vehicle.artifact_id is None
    with pytest.raises(ValidationError):
        vehicle.name = ["no"]
    with pytest.raises(ValidationError, match="did you mean 'engine'"):
        vehicle.enigne = None


def test_files_hold_what_was_given():
    vehicle = Vehicle("a", wheels=[Wheel(2)], __description__="fast", __tags__={"kind": "test"})
    data = vehicle.to_dict()
    assert data == {
        "__type__": "vehicle",
        "__description__": "fast",
        "__tags__": {"kind": "test"},
        "name": "a",
        "wheels": [{"__type__": "wheel", "size": 2.0}],
    }
    again = fetch_artifact(data)
    assert again == vehicle
    assert again.to_json() == vehicle.to_json()


def test_state_may_be_derived_in_prepare_and_checked_in_verify():
    class Square(Artifact):
        side: int

        def prepare(self):
            super().prepare()
            self.area = self.side**2

        def verify(self):
            if self.side < 0:
                raise ValidationError("a side is not negative")

    assert Square(3).area == 9
    with pytest.raises(ValidationError, match="not negative"):
        Square(-1)


def test_a_missing_package_is_named_with_its_remedy():
    class Fancy(Artifact):
        _requirements_list = {"no_such_package_at_all": "pip install it"}

    with pytest.raises(MissingExtraError, match="pip install it"):
        Fancy()


def test_unknown_types_and_copies_of_the_registry():
    with pytest.raises(UnknownTypeError, match="did you mean 'vehicle'"):
        registry.get("vehikle")
    copy = registry.copy()

    class OnlyInOriginal(Artifact):
        pass

    assert "only_in_original" in registry
    assert "only_in_original" not in copy
    del OnlyInOriginal


def test_a_class_named_like_a_built_in_one_does_not_replace_it():
    from proctor.formats import SystemFormat

    class SystemFormat(Artifact):  # noqa: F811 - that is the point
        x: Any = None

    from proctor.formats import SystemFormat as built_in

    assert registry.get("system_format") is built_in
    assert ":" in SystemFormat.type_name()
    assert fetch_artifact(SystemFormat(x=1).to_dict()).x == 1


def test_what_was_given_is_written_in_its_order():
    from proctor.templates import InputOutputTemplate

    given = {"output_format": "{b}", "input_format": "{a}", "__description__": "d", "instruction": "i"}
    written = InputOutputTemplate(**given).to_dict()
    assert list(written) == ["__type__", "__description__", "output_format", "input_format", "instruction"]
    again = InputOutputTemplate.from_dict(written)
    assert list(again.to_dict()) == list(written)
    again.target_prefix = "p"
    assert list(again.to_dict())[-1] == "target_prefix"


def test_descriptions_and_tags_are_read_and_changed_by_their_names():
    from proctor.templates import InputOutputTemplate

    template = InputOutputTemplate(
        input_format="{a}", output_format="{b}", __description__="d", __tags__={"modality": "table"}
    )
    assert (template.__description__, template.__tags__, template.__title__) == ("d", {"modality": "table"}, None)
    object.__setattr__(template, "_artifact_id", "templates.old")
    template.__tags__ = {"skill": "sums"}
    assert (template.tags, template.__id__) == ({"skill": "sums"}, None)
    assert template.to_dict()["__tags__"] == {"skill": "sums"}


def test_files_are_indented_json_with_letters_as_they_are():
    assert Vehicle("Rößl").to_json() == '{\n    "__type__": "vehicle",\n    "name": "Rößl"\n}'


def test_values_are_shown_as_files_name_them():
    assert to_data({1: {"b", "a"}, "f": len, "t": int, "n": None}) == {
        "1": ["a", "b"],
        "f": "builtins.len",
        "t": "int",
        "n": None,
    }


def test_an_artifact_that_is_given_nothing_is_what_its_validator_would_make():
    from pydantic import ConfigDict, Field

    class Counted(Artifact):
        names: list[str] = Field(default_factory=lambda: ["a"])
        kept: list[int] = [1]

    class Checked(Counted):
        model_config = ConfigDict(validate_default=True)
        size: int = "3"

    one, other = Counted(), Counted()
    one.kept.append(2)
    assert (other.kept, other.names, other.model_fields_set) == ([1], ["a"], set())
    assert Checked().size == 3


def test_a_class_has_the_defaults_of_its_fields_as_a_dataclass_has():
    class Counted(Artifact):
        names: list[str] = []
        size: int

    class Again(Counted):
        size: int = 3

    assert (Counted.names, Again.size, Again.names) == ([], 3, [])
    Counted.names.append("nobody's")
    assert Counted(size=1).names == []
    with pytest.raises(AttributeError):
        _ = Counted.size
    with pytest.raises(AttributeError):
        _ = Counted.nothing

    class Required(Again):
        size: int

    with pytest.raises(ValidationError, match="size"):
        Required()


class Typed(Artifact):
    kinds: dict[str, Any]
    vehicle: Vehicle


def test_json_of_pydantic_is_that_of_the_artifact():
    made = Typed(kinds={"one": int, "many": list[str]}, vehicle=Vehicle(name="v", engine=Diesel()))
    assert made.model_dump(mode="json") == json.loads(made.model_dump_json()) == made.to_dict()
    assert made.model_dump()["kinds"]["one"] is int
    assert isinstance(made.model_dump()["vehicle"], dict)
