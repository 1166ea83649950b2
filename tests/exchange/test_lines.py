"""Lines of samples in the words of other formats."""

from proctor.exchange.lines import content_of, json_text, token_usage


def test_words_stay_as_people_read_them():
    assert json_text("naïve 首都") == "naïve 首都"
    assert json_text({"city": "東京"}) == '{"city": "東京"}'
    assert json_text(["a", 1, None]) == '["a", 1, null]'


def test_tokens_are_counted_where_a_line_says_them():
    said = {"usage": {"prompt_tokens": 7, "completion_tokens": 2, "thinking_tokens": 1}}
    assert token_usage(said) == {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
    assert token_usage({"usage": None}) == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}


def test_the_words_of_a_message_leave_pictures_out():
    parts = [{"type": "text", "text": "What "}, {"type": "image_url", "image_url": {"url": "a"}}, {"text": "is it?"}, 3]
    assert content_of({"content": parts}) == "What is it?"
    assert (content_of({"content": None}), content_of({}), content_of({"content": 4})) == ("", "", "4")
