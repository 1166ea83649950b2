"""How a class of one's own is asked: in batches of what is asked alike, and what its losses say."""

import pytest

from proctor.dialects.aisbench import own_models
from proctor.dialects.aisbench.own_models import ConfigModel
from proctor.guests.opencompass.models import BaseModel
from proctor.ir import Choose, Decoding, Generate, Pair, Prompt, Rolling


class Mine(BaseModel):
    """Notes what it is asked; fails where a text says so."""

    asked: list[tuple[object, ...]]

    def __init__(self):
        super().__init__("x")
        self.asked = []

    def generate(self, inputs, max_out_len, stopping_criteria=()):
        self.asked.append((list(inputs), max_out_len, list(stopping_criteria)))
        if "fail" in inputs:
            raise RuntimeError("no")
        return [f"re: {each}" for each in inputs]

    def get_ppl(self, inputs, mask_length=None):
        return [float(len(each)) for each in inputs]

    def get_token_len(self, prompt):
        return len(prompt)


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setattr(own_models, "own_class", lambda *_: Mine)
    return ConfigModel(kind="mine.Mine", batch_size=3)


def ask(text, **decoding):
    return Generate(Prompt(text), Decoding(**decoding))


def test_what_is_asked_alike_is_asked_at_once(engine):
    asked = [ask("a", max_tokens=5), ask("b", max_tokens=5), ask("c", max_tokens=5), ask("d")]
    answers = dict(engine.generate(asked))
    assert [answers[n].text for n in range(4)] == ["re: a", "re: b", "re: c", "re: d"]
    assert engine.model.asked == [(["a", "b", "c"], 5, []), (["d"], own_models._LIMIT, [])]


def test_every_question_ends_at_its_own_words(engine):
    """Two exams may be asked in one batch."""
    asked = [
        ask("a", max_tokens=5, stop=("x",)),
        ask("b", max_tokens=5, stop=("y",)),
        ask("c", max_tokens=5, stop=("x",)),
    ]
    answers = dict(engine.generate(asked))
    assert engine.model.asked == [(["a", "c"], 5, ["x"]), (["b"], 5, ["y"])]
    assert [answers[n].text for n in range(3)] == ["re: a", "re: b", "re: c"]


def test_a_batch_that_fails_fails_alone(engine):
    answers = dict(engine.generate([ask("fail"), ask("b"), ask("c"), ask("d")]))
    assert [answers[n].failure is None for n in range(4)] == [False, False, False, True]
    assert "Mine.generate failed: RuntimeError: no" in answers[0].failure.message


def test_losses_of_texts_are_means_that_count_the_first_token(engine):
    found = dict(engine.score([Rolling("abc"), Rolling("a")]))
    assert [(each.scores[0].log_likelihood, each.scores[0].token_count) for _, each in sorted(found.items())] == [
        (-9.0, 2),
        (-2.0, 1),
    ]
    with pytest.raises(Exception, match="log-likelihoods|likelihood|score"):
        list(engine.score([Choose((Pair(Prompt("a"), "b"),))]))
