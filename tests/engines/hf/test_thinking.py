"""Models in this process that think: templates that begin the thoughts, marks, allowances, levels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.smollm2 import SmolLM2Engine
from proctor.errors import UsageError, ValidationError
from proctor.ir import Decoding, Generate, Prompt, Response
from proctor.settings import settings

USER = [{"role": "user", "content": "the cat"}]
OPENS = "{% for message in messages %}{{ message['content'] }}{% endfor %}{% if add_generation_prompt %}<think>\n{% endif %}"
CLOSES = OPENS.replace("<think>\n", "<think>\n\n</think>\n\n")
SWITCHED = (
    "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    "{% if enable_thinking is defined and enable_thinking %} think{% else %} sun{% endif %}"
)
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n{% endif %}"
)


def only(engine: HFEngine, payload: Any, **decoding: Any) -> Response:
    [(_, response)] = list(engine.generate([Generate(Prompt(payload), Decoding(**decoding))]))
    return response


def test_a_template_that_begins_thoughts_which_never_end(tiny_llama):
    found = only(HFEngine(tiny_llama, max_new_tokens=6, chat_template=OPENS), USER)
    assert found.failure is not None
    assert found.failure.kind == "thinking"
    assert "all 6 tokens" in found.failure.message
    assert found.usage.thinking_tokens == 6
    assert found.thoughts
    assert only(HFEngine(tiny_llama, max_new_tokens=6, chat_template=CLOSES), USER).failure is None


def test_special_tokens_alone_are_an_empty_answer(tiny_llama):
    engine = HFEngine(tiny_llama, max_new_tokens=6)
    model = engine.loaded.model
    model.get_output_embeddings().weight.data.zero_()  # equal logits: the first token is the likeliest, a special one
    tokenizer = engine.loaded.tokenizer
    assert tokenizer.decode([0], skip_special_tokens=True) == ""
    found = only(engine, "the cat", max_tokens=6)
    assert (found.failure, found.texts, found.usage.thinking_tokens) == (None, ("",), 0)
    assert engine.heard(found) == found


def test_a_template_that_begins_thoughts_which_end(tiny_llama):
    opens = CLOSES.replace("</think>", "<think>")
    lost = only(HFEngine(tiny_llama, max_new_tokens=24, chat_template=opens), USER)
    whole = lost.written[0]
    middle = next(whole[at : at + 3] for at in range(4, len(whole)) if whole[at : at + 3].strip() == whole[at : at + 3])
    found = only(HFEngine(tiny_llama, max_new_tokens=24, chat_template=opens, think_end=middle), USER)
    before, _, after = whole.rpartition(middle)
    assert found.thoughts == (before.strip(),)
    assert found.texts == (after.lstrip(),)
    assert 0 < found.usage.thinking_tokens < found.usage.completion_tokens


def test_the_end_that_is_missing_is_a_failure(tiny_llama):
    engine = HFEngine(tiny_llama, max_new_tokens=6, think_end_token="</never>")
    found = only(engine, "sun")
    assert found.failure is not None
    assert found.failure.kind == "thinking"
    plain = only(HFEngine(tiny_llama, max_new_tokens=6), "sun")
    assert found.written == plain.texts


def test_the_end_may_be_the_number_of_a_token(tiny_llama):
    free = only(HFEngine(tiny_llama, max_new_tokens=12), "sun")
    engine = HFEngine(tiny_llama, max_new_tokens=12)
    token = next(
        token
        for token in engine.loaded.tokenizer(free.text[3:])["input_ids"]
        if engine.loaded.tokenizer.decode([token]).strip() and engine.loaded.tokenizer.decode([token]) in free.text
    )
    mark = engine.loaded.tokenizer.decode([token])
    found = only(HFEngine(tiny_llama, max_new_tokens=12, think_end_token=token), "sun")
    named = only(HFEngine(tiny_llama, max_new_tokens=12, think_end_token=mark), "sun")
    assert (found.texts, found.thoughts, found.written) == (named.texts, named.thoughts, free.texts)
    assert HFEngine(tiny_llama, think_end_token=token).thought_marks.own is None


def test_stop_strings_in_thoughts_do_not_count(tiny_llama):
    free = only(HFEngine(tiny_llama, max_new_tokens=12), "sun")
    stop = free.text[2:4]
    assert len(only(HFEngine(tiny_llama, max_new_tokens=12), "sun", stop=(stop,)).text) < len(free.text)
    thinking = only(HFEngine(tiny_llama, max_new_tokens=12, think_end="</never>"), "sun", stop=(stop,))
    assert thinking.written == free.texts


def test_the_allowance_comes_on_top(tiny_llama):
    assert only(HFEngine(tiny_llama), "sun", max_tokens=2).usage.completion_tokens == 2
    assert only(HFEngine(tiny_llama, thinking_tokens=3), "sun", max_tokens=2).usage.completion_tokens == 5


def test_levels_are_said_to_the_chat_template(tiny_llama):
    texts = {
        level: only(HFEngine(tiny_llama, max_new_tokens=8, chat_template=SWITCHED, thinking=level), USER).text
        for level in (None, "off", "on")
    }
    assert texts[None] == texts["off"] != texts["on"]
    old = HFEngine(tiny_llama, max_new_tokens=8, chat_template=SWITCHED, enable_thinking=True)
    assert only(old, USER).text == texts["on"]
    with pytest.raises(UsageError, match="no way to say thinking=high"):
        only(HFEngine(tiny_llama, chat_template=SWITCHED, thinking="high"), USER)


def test_one_thing_is_said_once(tiny_llama):
    with pytest.raises(ValidationError, match="one argument"):
        HFEngine(tiny_llama, think_end="a", think_end_token="b")
    with pytest.raises(ValidationError, match="say the same"):
        HFEngine(tiny_llama, enable_thinking=True, thinking="on")


def test_identities_of_older_logs_stay(tiny_llama):
    assert (
        not {"thinking", "thinking_tokens", "think_start", "think_end"} & HFEngine(tiny_llama).identity_values().keys()
    )
    assert HFEngine(tiny_llama, thinking_tokens=5).identity != HFEngine(tiny_llama).identity


@pytest.fixture(scope="module")
def small(converted: Path) -> SmolLM2Engine:
    """SmolLM2 whose chat template begins thoughts, which it does not know how to end."""
    made = SmolLM2Engine(chat_template=CHATML)
    with settings.context(cache_dir=converted):
        assert made.loaded is not None
    return made


def test_a_real_model(small):
    """It writes until it stops or is cut off, and never ends its thoughts: no answer, whatever it wrote."""
    question = [{"role": "user", "content": "Is this review positive or negative? 'I love it.' Answer with one word."}]
    for limit in (4, 30):
        found = only(small, question, max_tokens=limit)
        assert found.failure is not None
        assert found.failure.kind == "thinking"
        assert found.thoughts == (found.written[0].strip(),)
        assert found.usage.thinking_tokens == found.usage.completion_tokens <= limit
    word = next(word for word in found.written[0].split()[2:] if word.isalpha())
    told = SmolLM2Engine(chat_template=CHATML, think_end=word)
    object.__setattr__(told, "_loaded", small.loaded)
    answer = only(told, question, max_tokens=30)
    assert answer.written == found.written
    assert word not in answer.text
    assert answer.text == found.written[0].rpartition(word)[2].lstrip() or answer.failure is not None
