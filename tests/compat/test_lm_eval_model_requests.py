"""Requests as models of lm-eval's interface see them."""

import copy

import pytest

from proctor.errors import UsageError
from proctor.guests.lm_eval.foreign_model import ForeignModel
from proctor.guests.lm_eval.model import LM
from proctor.ir import Decoding, Generate, Prompt, Rolling


class Reader(LM):
    def __init__(self, read):
        super().__init__()
        self.read = read

    def loglikelihood(self, requests):
        return [(0.0, bool(self.read(each.doc))) for each in requests]

    def loglikelihood_rolling(self, requests):
        return [float(bool(self.read(each.doc))) for each in requests]

    def generate_until(self, requests):
        return [str(self.read(each.doc)) for each in requests]


ASKED = Generate(Prompt("a"), Decoding(max_tokens=3))


@pytest.mark.parametrize(
    "read",
    [lambda doc: doc["q"], lambda doc: doc.get("q"), lambda doc: "q" in doc, list, lambda doc: doc.items(), dict],
    ids=["item", "get", "in", "list", "items", "dict"],
)
def test_a_model_that_reads_documents_hears_that_there_are_none(read):
    model = ForeignModel(lm=Reader(read))
    with pytest.raises(UsageError, match=r"reads the document of a request \(request\.doc\)"):
        list(model.generate([ASKED]))
    with pytest.raises(UsageError, match="doc_to_text"):
        list(model.score([Rolling("a")]))


def test_documents_may_be_passed_on_and_copied():
    model = ForeignModel(lm=Reader(lambda doc: copy.deepcopy(doc) is not None))
    ((_, response),) = model.generate([ASKED])
    assert response.texts == ("True",)
