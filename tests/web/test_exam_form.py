import pytest

from proctor.errors import UsageError
from proctor.web.code_snippets import forms_of, slug
from proctor.web.exam_form import FIELDS, Setting, setting_of


@pytest.mark.parametrize(
    "given, task",
    [
        ({"exam": "samples.science"}, "samples.science"),
        ({"exam": "samples.science", "num_demos": "2"}, "samples.science[num_demos=2]"),
        ({"exam": "samples.science[num_demos=2]", "split": "train"}, "samples.science[num_demos=2,split=train]"),
        ({"exam": "cards.wnli"}, "card=cards.wnli"),
        ({"exam": "cards.wnli", "num_demos": "0"}, "card=cards.wnli,num_demos=0"),
        ({"exam": "cards.wnli", "num_demos": "3"}, "card=cards.wnli,num_demos=3,demos_pool_size=100"),
        (
            {"exam": "card=cards.wnli,template=t", "format": "formats.empty"},
            "card=cards.wnli,template=t,format=formats.empty",
        ),
        (
            {"exam": "samples.cards.sentiment", "sampler": "samplers.first"},
            "card=samples.cards.sentiment,sampler=samplers.first",
        ),
        ({"exam": "samples", "system_prompt": "Be brief."}, "samples"),
        ({"exam": "arc_easy", "num_demos": "3", "split": "train"}, "arc_easy"),
    ],
)
def test_a_setting_is_typed_so(given, task):
    assert Setting(**given).task == task


def test_what_a_name_cannot_say_is_an_option():
    options = Setting("arc_easy", "cloze", "chat", "Be brief.", "3", "first_n", "train", ("folder",)).options()
    assert (options.template, options.num_demos, options.system_prompt) == ("cloze", 3, "Be brief.")
    assert options.apply_chat_template
    assert options.include_paths == ("folder",)
    assert options.keys == {"test_split": "train", "fewshot_config": {"sampler": "first_n"}}
    assert Setting("samples.science", system_prompt="Be brief.").options().system_prompt == "Be brief."
    with pytest.raises(UsageError, match="takes no format but"):
        Setting("arc_easy", format="formats.llama3").options()


def test_forms_of_a_page_are_read():
    given = dict.fromkeys(FIELDS, " ") | {"other_num_demos": " 2 "}
    assert setting_of(given, "samples") == Setting("samples")
    assert setting_of(given, "samples", "other_").num_demos == "2"
    with pytest.raises(UsageError, match="not a number of demos"):
        setting_of({"num_demos": "-1"}, "samples")


def test_a_member_that_cannot_be_named_has_no_task_file():
    setting = Setting("samples")
    titles = [title for title, _ in forms_of(setting, setting.resolve_all()[0])]
    assert titles == ["Show it", "Run it", "Python", "Recipe", "lm-eval YAML", "Catalog JSON"]
    assert slug("---") == "exam"
