"""Parts of lm-eval that classes of programs build on: filters, stop strings, batches."""

import pytest

from proctor.guests.lm_eval.filters import MultiChoiceRegexFilter
from proctor.guests.lm_eval.messages import Message, maybe_delimit, messages_to_text
from proctor.guests.lm_eval.model_utils import handle_stop_sequences


def test_a_filter_that_derives_from_one_with_a_pattern_finds_what_that_was_given():
    class Last(MultiChoiceRegexFilter):
        def apply(self, resps, docs):
            found = [[self.regex.findall(each) for each in answers] for answers in resps]
            return [[each[self.group_select] if each else self.fallback for each in answers] for answers in found]

    made = Last(r"\d", group_select=-1, ignore_case=True, regexes_to_ignore=[","])
    assert made.apply([["a1b2", "none"]], [{}]) == [["2", "[invalid]"]]
    assert (made.ignore_case, made.ignore_punctuation, made.regexes_to_ignore) == (True, False, [","])


@pytest.mark.parametrize(
    "until, eos, stops",
    [(None, None, []), (None, "</s>", ["</s>"]), ("a", "b", ["a", "b"]), (["a"], "a", ["a"]), ([], None, [])],
)
def test_stop_strings_are_a_list_with_the_last_token(until, eos, stops):
    assert handle_stop_sequences(until, eos) == stops


def test_what_is_no_stop_string_is_refused():
    with pytest.raises(ValueError, match="until is 3, neither a text nor a list of texts"):
        handle_stop_sequences(3, None)


@pytest.mark.parametrize("fits, found", [(64, 64), (63, 32), (5, 4), (1, 1)])
@pytest.mark.parametrize("backend", ["causal", "seq2seq"])
def test_a_batch_is_halved_until_it_fits(fits, found, backend):
    torch = pytest.importorskip("torch")
    from proctor.guests.lm_eval.torch_model import TorchLM

    class Small(TorchLM):
        max_length, device = 8, "cpu"

        def __init__(self):
            self.backend, self.shapes = backend, set()

        def _model_call(self, inps, attn_mask=None, labels=None):
            if len(inps) > fits:
                raise torch.OutOfMemoryError("no memory")
            self.shapes.add(tuple(inps.shape))

    made = Small.__new__(type("Made", (Small,), dict.fromkeys(Small.__abstractmethods__)))
    Small.__init__(made)
    assert made._detect_batch_size() == found
    assert made._detect_batch_size([((), [1, 2], [3])], 0) == found
    assert made.shapes <= {(found, 8), (found, 2)}


def test_messages_become_one_text_with_what_stands_behind_them():
    first, second = Message("user", "a", "\n"), Message("assistant", "b")
    assert (first.to_text(), messages_to_text([first, second])) == ("a\n", "a\nb")
    assert first.to_dict() == {"role": "user", "content": "a"}


@pytest.mark.parametrize(
    "prefix, suffix, text",
    [("a", "b", "a b"), ("a\n", "b", "a\nb"), ("a", " b", "a b"), ("", "b", "b"), ("a", None, "a"), (None, None, "")],
)
def test_texts_are_put_together_with_white_space_where_they_have_none(prefix, suffix, text):
    assert maybe_delimit(prefix, suffix) == text
    assert maybe_delimit("a", "b", "|") == "a|b"
