"""Helpers of ``lm_eval.models.utils_hf``; the values are those of lm-eval 0.4.13."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from proctor.errors import UsageError  # noqa: E402 - as above
from proctor.guests.lm_eval import torch_utils  # noqa: E402 - behind the packages that it needs


class Letters:
    def encode(self, text, add_special_tokens):
        assert not add_special_tokens
        return [ord(each) for each in text]

    def batch_decode(self, rows):
        return ["".join(chr(int(each)) for each in row) for row in rows]


def test_rows_are_padded_on_either_side():
    rows = [torch.tensor([1, 2]), torch.tensor([[3]]), torch.tensor([4, 5, 6])]
    assert torch_utils.pad_and_concat(3, rows).tolist() == [[1, 2, 0], [3, 0, 0], [4, 5, 6]]
    assert torch_utils.pad_and_concat(3, rows, padding_side="left").tolist() == [[0, 1, 2], [0, 0, 3], [4, 5, 6]]
    with pytest.raises(UsageError, match="padding_side is 'top'"):
        torch_utils.pad_and_concat(3, rows, padding_side="top")


def test_types_by_name():
    assert torch_utils.get_dtype("float16") is torch.float16
    assert torch_utils.get_dtype("auto") == "auto"
    assert torch_utils.get_dtype(torch.int8) is torch.int8


def test_generation_ends_when_every_row_had_its_stop_string_behind_the_prompt():
    (criteria,) = torch_utils.stop_sequences_criteria(Letters(), ["ab"], 2, 2)
    assert isinstance(criteria, torch_utils.MultiTokenEOSCriteria)
    assert not criteria(torch.tensor([[97, 98, 99, 99], [97, 98, 97, 98]]), None)
    assert criteria.done_tracker == [False, True]
    assert criteria(torch.tensor([[97, 98, 97, 98], [97, 98, 99, 99]]), None)
