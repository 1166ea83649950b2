"""AISBench's templates, retrievers and readers as programs make them: what they make of rows, and which errors they give."""

from types import SimpleNamespace

import pytest
from datasets import Dataset

pytestmark = pytest.mark.usefixtures("installed")


ROWS = Dataset.from_dict({"q": [str(each) for each in range(6)], "a": [str(each % 2) for each in range(6)]})
DIALOGUE = {"begin": [{"role": "SYSTEM", "prompt": "s"}], "round": [{"role": "HUMAN", "prompt": "{q}"}]}


def data():
    from ais_bench.benchmark.openicl.icl_dataset_reader import DatasetReader

    reader = DatasetReader(ROWS, ["q"], "a")
    return SimpleNamespace(reader=reader, train=reader["train"], test=reader["test"])


def code_of(error):
    return error.value.error_code_str


@pytest.mark.parametrize(
    "given, code",
    [
        ({"template": 5}, "ICLR-TYPE-001"),
        ({"template": {"A": 5}}, "ICLR-TYPE-002"),
        ({"template": "no place", "ice_token": "</E>"}, "ICLR-PARAM-001"),
        ({"template": {"A": "no place"}, "ice_token": "</E>"}, "ICLR-PARAM-001"),
        ({"template": "a", "ice_token": 3}, "UTILS-TYPE-001"),
    ],
)
def test_a_template_that_cannot_be_gives_the_error_of_upstream(given, code):
    from ais_bench.benchmark.openicl import PromptTemplate
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchBaseException

    with pytest.raises(AISBenchBaseException) as error:
        PromptTemplate(**given)
    assert code_of(error) == code


def test_templates_fill_rows_and_mask_the_answer():
    from ais_bench.benchmark.openicl import PromptTemplate

    template = PromptTemplate("</E>Q {q} A {a}</S>", ice_token="</E>", sep_token="</S>")
    assert template.generate_item({"q": "1", "a": "2"}, "a", "?", "EX ") == "EX Q 1 A ?"
    assert template.generate_ice_item({"q": "1", "a": "2"}, None) == "Q 1 A 2</S>"
    assert template.generate_label_prompt_item({"q": "1", "a": "2"}, "", None, remain_sep=True) == "Q 1 A 2</S>"
    by_label = PromptTemplate({"0": "no {q}", "1": "yes {q}"})
    assert by_label.prompt_type == "origin"
    assert by_label.generate_label_prompt_item({"q": "1"}, "", "1") == "yes 1"
    with pytest.raises(KeyError):
        by_label.generate_ice_item({"q": "1"}, "2")


def test_dialogues_become_prompt_lists_with_sections():
    from ais_bench.benchmark.openicl import PromptTemplate
    from ais_bench.benchmark.utils.prompt import PromptList

    template = PromptTemplate(DIALOGUE)
    assert template.prompt_type == "meta"
    made = template.generate_item({"q": "1"})
    assert isinstance(made, PromptList)
    assert made[-2:] == [{"role": "HUMAN", "prompt": "1"}, {"section": "round", "pos": "end"}]
    assert template._encode_template(DIALOGUE, ice=True)[0] == {"section": "ice", "pos": "begin"}
    assert repr(template) == f"PromptTemplate({{\n\ttemplate: {DIALOGUE},\n\tice_token: None\n}})"


def test_a_base_makes_no_prompts_and_says_so():
    from ais_bench.benchmark.openicl import BasePromptTemplate
    from ais_bench.benchmark.openicl.icl_retriever import BaseRetriever
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchImplementationError, AISBenchValueError

    base = BasePromptTemplate("x")
    for call in (
        lambda: base.generate_item({}),
        lambda: base.generate_ice_item({}, ""),
        lambda: base.generate_label_prompt_item({}, "", ""),
        lambda: BaseRetriever(data()).retrieve(),
    ):
        with pytest.raises(AISBenchImplementationError):
            call()
    assert BasePromptTemplate._check_prompt_template(base) is base
    with pytest.raises(AISBenchValueError):
        BasePromptTemplate._check_prompt_template("x")


def test_conversations_have_a_round_for_each_question():
    from ais_bench.benchmark.openicl import MultiTurnPromptTemplate

    template = MultiTurnPromptTemplate({"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT"}]})
    made = template.generate_item({"question": ["a", "b"], "answer": ["1", "2"]})
    assert [item.get("prompt") for item in made] == [None, "a", None, "b", None, None]


def test_templates_of_media_tell_their_parts():
    from ais_bench.benchmark.openicl import MMPromptTemplate
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchValueError
    from ais_bench.benchmark.utils.prompt import PromptList

    parts = {
        "text": {"type": "text", "text": "{question}"},
        "image": {"type": "image_url", "image_url": {"url": "file://{image}"}},
    }
    template = MMPromptTemplate({"round": [{"role": "HUMAN", "prompt_mm": parts}]})
    assert template.check_mm_template()
    assert not MMPromptTemplate("x").check_mm_template()
    assert template.get_mm_template({"prompt_mm": {"image_url": "['a','b']", "text": "t"}}) == [
        {"type": "image_url", "image_url": "a"},
        {"type": "image_url", "image_url": "b"},
        {"type": "text", "text": "t"},
    ]
    with pytest.raises(AISBenchValueError):
        template.get_mm_template({"prompt_mm": {"smell": "x"}})
    content = "<AIS_IMAGE_START>/a.jpg<AIS_CONTENT_TAG><AIS_TEXT_START>hi<AIS_CONTENT_TAG>"
    expected = [{"type": "image_url", "image_url": {"url": "file:///a.jpg"}}, {"type": "text", "text": "hi"}]
    made = PromptList([{"role": "HUMAN", "prompt_mm": parts}, "{content}"]).format_mm(content=content)
    assert made == [{"role": "HUMAN", "prompt_mm": expected}, content]
    renamed = template.format_mm_url({"round": [{"prompt_mm": {"mm_url": "u"}}]}, {"type": "video"})
    assert renamed == {"round": [{"prompt_mm": {"video_url": "u"}}]}


def test_prompt_lists_replace_and_count_words_as_upstream():
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchTypeError
    from ais_bench.benchmark.utils.prompt import PromptList

    prompt = PromptList(["a{x}", {"role": "H", "prompt": "b{x}"}])
    assert str(prompt) == 'a{x}"b{x}"'
    assert type(prompt + "c") is type(prompt.format(x=1)) is PromptList
    for call in (lambda: prompt.replace("{x}", PromptList(["1"])), lambda: str(PromptList([3]))):
        with pytest.raises(AISBenchTypeError):
            call()


def test_retrievers_put_examples_together_and_give_the_errors_of_upstream():
    from ais_bench.benchmark.openicl import FixKRetriever, PromptTemplate, RandomRetriever, ZeroRetriever
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchImplementationError, AISBenchValueError

    ice = {"type": PromptTemplate, "template": "Q:{q} A:{a}"}
    asking = {"type": "PromptTemplate", "template": "</E>Q:{q} A:{a}", "ice_token": "</E>"}
    fixed = FixKRetriever(data(), [1, 2], ice_template=ice, prompt_template=asking)
    assert fixed.retrieve() == [[1, 2]] * 6
    examples = fixed.generate_ice([1, 2])
    assert examples == "Q:1 A:1\nQ:2 A:0\n"
    assert fixed.generate_prompt_for_generate_task(3, examples, "?") == f"{examples}Q:3 A:?"
    assert fixed.get_labels() == ["0", "1"]
    assert list(fixed.get_gold_ans()) == list(ROWS["a"])
    assert RandomRetriever(data(), ice_num=2).retrieve() == RandomRetriever(data(), ice_num=2).retrieve()
    with pytest.raises(AISBenchValueError) as error:
        FixKRetriever(data(), [99]).retrieve()
    assert code_of(error) == "ICLR-PARAM-004"
    for retriever, code in (
        (ZeroRetriever(data()), "ICLR-IMPL-003"),
        (ZeroRetriever(data(), ice_template=ice, prompt_template=ice), "ICLR-IMPL-002"),
    ):
        with pytest.raises(AISBenchImplementationError) as missing:
            retriever.generate_prompt_for_generate_task(1, "")
        assert code_of(missing) == code
    with pytest.raises(AISBenchValueError):
        ZeroRetriever(data()).generate_ice([1])


def test_a_dataset_stays_one_whatever_part_of_it_is_taken():
    from ais_bench.benchmark.openicl.icl_dataset_reader import DatasetReader, load_partial_dataset

    assert list(load_partial_dataset(ROWS, "[2:4]")["q"]) == ["2", "3"]
    assert len(load_partial_dataset(ROWS, 3)["q"]) == 3
    assert len(load_partial_dataset(ROWS, 0.5)["q"]) == 3
    assert load_partial_dataset(ROWS, "nonsense") is ROWS
    reader = DatasetReader(ROWS, "q a", "a", test_range="[1:3]")
    assert list(reader["test"]["q"]) == ["1", "2"]
    assert reader.input_columns == ["q", "a"]
    assert repr(reader).startswith("DatasetReader({\n    dataset: DatasetDict")


@pytest.mark.parametrize(
    "given, code",
    [
        ((5, ["q"], "a"), "UTILS-TYPE-002"),
        ((ROWS, 5, "a"), "UTILS-TYPE-001"),
        ((ROWS, ["q"], 5), "UTILS-TYPE-004"),
    ],
)
def test_readers_of_wrong_things_give_the_error_of_upstream(given, code):
    from ais_bench.benchmark.openicl.icl_dataset_reader import DatasetReader
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchInvalidTypeException

    with pytest.raises(AISBenchInvalidTypeException) as error:
        DatasetReader(*given)
    assert code_of(error) == code
