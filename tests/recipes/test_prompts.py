import pytest
from PIL import Image

from proctor.demos import DemoPool
from proctor.errors import TemplateError
from proctor.formats import ChatAPIFormat, EmptySystemPrompt, Format, SystemFormat, SystemPrompt, TextualSystemPrompt
from proctor.randomness import seeded
from proctor.recipes.plan import Plan
from proctor.recipes.prompts import Prompts
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate, MultipleChoiceTemplate

TASK = Task(input_fields={"a": "int"}, reference_fields={"b": "str"}, prediction_type="str", metrics=[])
TEMPLATE = InputOutputTemplate(instruction="Do.", input_format="Q {a}", output_format="{b}", target_prefix="A ")
OTHER = InputOutputTemplate(input_format="What is {a}?", output_format="={b}")


class Counting(InputOutputTemplate):
    """Counts how often it puts an instance in words."""

    def process(self, instance, stream_name=None):
        seen.append(instance["input_fields"]["a"])
        return super().process(instance, stream_name)


seen: list[int] = []


def instance(number):
    return TASK.bind("test")({"a": number, "b": str(number)})


def prompts(*templates, form=None, system=None, **more):
    plan = Plan(
        None, TASK, templates or (TEMPLATE,), form or SystemFormat(), system or EmptySystemPrompt(), **more
    )  # fmt: skip
    return Prompts(plan)


def test_demos_stand_before_the_question():
    made = prompts(num_demos=2, pool_size=5)
    rendered = made.render(instance(1), "test", [instance(7), instance(8)], None)
    assert rendered.prompt.text == "Do.\nQ 7\nA 7\n\nQ 8\nA 8\n\nQ 1\nA "
    assert (rendered.num_demos, rendered.pool_size) == (2, 5)
    assert [each.instance["input_fields"]["a"] for each in rendered.demos] == [7, 8]
    assert rendered.exchange().references == ("1",)


def test_no_demos_and_demos_of_nobody_are_told_apart():
    rendered = prompts(pool_size=5).render(instance(1), "test", (), None)
    assert (rendered.demos, rendered.num_demos, rendered.pool_size) == (None, 0, 0)
    rendered = prompts(num_demos=(0, 1), pool_size=5).render(instance(1), "test", (), None)
    assert (rendered.demos, rendered.num_demos, rendered.pool_size) == ([], 0, 5)


def test_a_demo_of_the_pool_is_put_in_words_once_for_each_template():
    seen.clear()
    counting = Counting(input_format="Q {a}", output_format="{b}")
    pool = DemoPool([instance(7), instance(8)])
    made = prompts(counting, num_demos=1, pool_size=2)
    for number in range(3):
        made.render(instance(number), "test", [pool[0]], pool)
    assert seen.count(7) == 1
    made.render(instance(3), "test", [instance(7)], pool)
    assert seen.count(7) == 2
    made.render(instance(3), "test", [instance(7)], None)
    assert seen.count(7) == 3


def test_the_template_follows_from_the_content_and_the_seed():
    made = prompts(TEMPLATE, OTHER)

    def chosen():
        return [made.render(instance(number), "test", (), None).template for number in range(30)]

    assert TEMPLATE in chosen()
    assert OTHER in chosen()
    assert chosen() == chosen()
    own = chosen()
    with seeded(3):
        assert chosen() != own
    rendered = made.render(instance(0), "test", (), None)
    assert rendered.instance["__template__"] == rendered.template.to_dict()


def test_the_system_prompt_of_a_row_wins():
    made = prompts(system=TextualSystemPrompt(text="Be good."))
    assert made.render(instance(1), "test", (), None).prompt.text.startswith("Be good.\nDo.")
    own = {**instance(1), "system_prompt": "Own."}
    assert made.render(own, "test", (), None).prompt.text.startswith("Own.\nDo.")


def test_a_format_that_works_on_instances_sees_demos_as_instances():
    class Whole(Format):
        def layout(self):
            raise AssertionError("this format works on whole instances")

        def process(self, instance, stream_name=None):
            shown = [f"{each['source']}>{each['target_prefix']}{each['target']}" for each in instance["demos"]]
            return {**instance, "source": " | ".join([*shown, instance["source"]])}

    rendered = prompts(form=Whole(), num_demos=1, pool_size=2).render(instance(1), "test", [instance(7)], None)
    assert rendered.prompt.text == "Q 7>A 7 | Q 1"


@pytest.mark.parametrize("split", ["test", "train"])
def test_the_words_are_labelled(split):
    rendered = prompts(num_demos=1, pool_size=2).render(instance(1), split, [instance(7)], None)
    origins = [part.origin for turn in rendered.prompt.turns for part in turn.parts if part.text.strip()]
    assert origins[0] == "instruction"
    assert "demo[0].question" in origins
    assert origins[-1] == "answer_prefix"


def test_demos_without_a_pool_have_a_pool_of_0():
    rendered = prompts(num_demos=1).render(instance(1), "test", [instance(7)], None)
    assert (rendered.num_demos, rendered.pool_size) == (1, 0)


def test_the_label_helps_to_draw_the_template():
    made = prompts(TEMPLATE, OTHER)
    labelled = [{**instance(1), "reference_fields": {"b": str(number)}} for number in range(30)]
    assert {made._template_of(each) for each in labelled} == {0, 1}
    bare = {"input_fields": {"a": 1}, "reference_fields": None}
    assert made._template_of(bare) == made._template_of({"input_fields": {"a": 1}})


def test_a_system_prompt_that_works_on_instances_sees_the_instance():
    class Own(SystemPrompt):
        def process(self, instance, stream_name=None):
            return {**instance, "system_prompt": f"About {instance['input_fields']['a']}."}

        def get_system_prompt(self, instance):
            raise AssertionError("it works on whole instances")

    made = prompts(system=Own())
    assert made.render(instance(4), "test", (), None).prompt.text.startswith("About 4.\nDo.")
    own = {**instance(1), "system_prompt": "Own."}
    assert made.render(own, "test", (), None).prompt.text.startswith("Own.\nDo.")


@pytest.mark.parametrize(
    "change", [{"target": "other"}, {"references": ["x"]}, {"note": 1}, {"input_fields": {"a": 3}}]
)
def test_what_a_step_of_a_program_changes_beside_its_own_field_is_refused(change):
    class OwnPrompt(SystemPrompt):
        def process(self, instance, stream_name=None):
            return {**instance, "system_prompt": "S", **change}

        def get_system_prompt(self, instance):
            raise AssertionError("it works on whole instances")

    class OwnFormat(Format):
        def layout(self):
            raise AssertionError("this format works on whole instances")

        def process(self, instance, stream_name=None):
            instance.update(change, source="F")
            instance.pop("demos")
            return instance

    name = next(iter(change))
    for parts in ({"system": OwnPrompt()}, {"form": OwnFormat()}):
        with pytest.raises(TemplateError, match=rf"process\(\) of Own\w+ changes '{name}'"):
            prompts(**parts).render(instance(1), "test", (), None)


def test_pictures_are_in_the_messages_that_name_them():
    asked = {**instance(1), "media": {"images": [{"image": Image.new("RGB", (2, 2)), "format": "PNG"}]}}
    shown = InputOutputTemplate(input_format='<unitxt-img src="media/images/0"> Q {a}', output_format="{b}")
    (message,) = prompts(shown, form=ChatAPIFormat()).render(asked, "test", (), None).prompt.payload
    kinds = [part["type"] for part in message["content"]]
    assert kinds == ["image_url", "text"]
    assert message["content"][0]["image_url"]["url"].startswith("data:image/")


def test_choices_are_labelled_within_the_question():
    task = Task(
        input_fields={"question": "str", "choices": "List[str]"}, reference_fields={"choices": "List[str]", "answer": "int"},
        prediction_type="str", metrics=[],
    )  # fmt: skip
    template = MultipleChoiceTemplate(
        input_format="{question}\n{choices}", target_field="answer", choices_separator="\n"
    )
    asked = task.bind("test")({"question": "Which?", "choices": ["one", "two"], "answer": 1})
    plan = Plan(None, task, (template,), SystemFormat(), EmptySystemPrompt())
    rendered = Prompts(plan).render(asked, "test", (), None)
    origins = {part.origin for turn in rendered.prompt.turns for part in turn.parts}
    assert {"question", "choice[0]", "choice[1]"} <= origins
