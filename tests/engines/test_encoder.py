"""From prompts to token ids, with a tokenizer whose tokens are characters."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2.exceptions import TemplateError

from proctor.engines.encoder import Encoder, RefusedError, _keeps_words_apart
from proctor.engines.truncation import fitted_pair, fitted_prompt, shorter_requests
from proctor.errors import UsageError
from proctor.ir import Choose, Generate, Likelihood, Pair, Prompt, Rolling, Span, Turn

BOS, EOS = 1, 2


class Letters:
    """A tokenizer: a letter is its code, and ``^`` stands for the beginning of a text."""

    bos_token: str | None = "^"
    bos_token_id: int | None = BOS
    eos_token_id: int | None = EOS
    pad_token_id: int | None = None
    chat_template: Any = "{{ messages }}"
    refuses: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.options: dict[str, Any] = {}

    def __call__(self, texts: Sequence[str], *, add_special_tokens: bool = True, **_: Any) -> dict[str, Any]:
        start = [BOS] if add_special_tokens else []
        return {"input_ids": [start + [BOS if each == "^" else ord(each) for each in text] for text in texts]}

    def decode(self, ids: Sequence[int]) -> str:
        return {BOS: "^", EOS: "$"}.get(ids[0], chr(ids[0]))

    def apply_chat_template(self, messages: Sequence[Any], **options: Any) -> str:
        self.options = options
        for each in messages:
            if each["role"] in self.refuses:
                raise TemplateError(f"no {each['role']}")
        return "|".join(each["content"] for each in messages)


def ids(text: str) -> list[int]:
    return [BOS if each == "^" else ord(each) for each in text]


def chat(*roles: str) -> list[dict[str, Any]]:
    return [{"role": role, "content": role[0]} for role in roles]


def test_special_tokens_are_not_added_twice() -> None:
    encoder = Encoder(Letters(), 99)
    assert encoder.encode_prompts(["ab", "^cd", "e"]) == [ids("^ab"), ids("^cd"), ids("^e")]
    assert Encoder(Letters(), 99, add_bos=False).encode_prompts(["ab", "^cd"]) == [ids("ab"), ids("^cd")]
    assert encoder.encode_prompts([]) == []


def test_a_continuation_is_what_follows_the_contexts_own_tokens() -> None:
    pairs = [("ab ", "c"), ("", "de"), ("", "^f"), ("^g", "h")]
    assert Encoder(Letters(), 99, add_bos=False).encode_pairs(pairs) == [
        (ids("ab"), ids(" c")),
        (ids("^"), ids("de")),
        (ids("^"), ids("f")),
        (ids("^g"), ids("h")),
    ]
    apart = Encoder(Letters(), 99, joined=False, add_bos=False)
    assert apart.encode_pairs([("ab ", "c"), ("", "de")]) == [(ids("ab"), ids(" c")), (ids("^"), ids("de"))]


@pytest.mark.parametrize(
    "given, bos, eos, pad, expected",
    [(0, 1, 2, 3, 0), (None, 1, 2, 3, 1), (None, None, 2, 3, 2), (None, None, None, 3, 3), (None, None, None, None, 0)],
)
def test_an_empty_context_is_the_first_token_that_the_model_has_for_it(given, bos, eos, pad, expected) -> None:
    tokenizer = Letters()
    tokenizer.bos_token_id, tokenizer.eos_token_id, tokenizer.pad_token_id = bos, eos, pad
    assert Encoder(tokenizer, 9, prefix_token=given).prefix == expected


def test_a_context_that_is_too_long_loses_its_beginning() -> None:
    encoder = Encoder(Letters(), 4)
    found = encoder.scorable(ids("abc"), ids("de"))
    assert (found.inputs, found.targets) == (tuple(ids("abcd")), tuple(ids("de")))
    assert encoder.scorable(ids("abcd"), ids("ef")).inputs == tuple(ids("bcde"))
    assert encoder.scorable(ids("a"), ids("bcde")).inputs == tuple(ids("abcd"))
    assert Encoder(Letters(), 3, joined=False).scorable(ids("abcd"), ids("ef")).inputs == tuple(ids("bcd"))
    with pytest.raises(RefusedError, match="1 tokens longer than the model's 4") as caught:
        encoder.scorable(ids("a"), ids("bcdef"))
    assert caught.value.kind == "context_too_long"
    with pytest.raises(RefusedError, match="adds no tokens"):
        encoder.scorable(ids("a"), [])


def test_windows_predict_every_token_once() -> None:
    encoder = Encoder(Letters(), 4, add_bos=False)
    windows = encoder.rolling("abcdefghij")
    assert [bytes(each.targets).decode() for each in windows] == ["abcd", "efgh", "ij"]
    assert [bytes(each.inputs).decode() for each in windows] == ["\x01abc", "defg", "fghi"]
    assert [len(each.inputs) for each in encoder.rolling("abcd")] == [4]
    with pytest.raises(RefusedError, match="no tokens"):
        encoder.rolling("")


def test_a_text_is_predicted_from_its_first_token() -> None:
    encoder = Encoder(Letters(), 3, add_bos=False)
    (found,) = encoder.continued("abcd")
    assert (bytes(found.inputs), bytes(found.targets)) == (b"abc", b"bcd")
    with pytest.raises(RefusedError, match="1 tokens longer than the model's 3"):
        encoder.continued("abcde")
    with pytest.raises(RefusedError, match="one token"):
        encoder.continued("a")


def test_a_conversation_that_ends_with_the_model_is_continued() -> None:
    encoder = Encoder(Letters(), 9, chat_options={"x": 1})
    assert encoder.text_of(Prompt("ab")) == "ab"
    assert encoder.text_of(Prompt(chat("system", "user"))) == "s|u"
    assert encoder.tokenizer.options == {
        "tokenize": False,
        "add_generation_prompt": True,
        "continue_final_message": False,
        "x": 1,
    }
    encoder.text_of(Prompt(chat("user", "assistant")), tools=[{"name": "add"}])
    assert (encoder.tokenizer.options["continue_final_message"], encoder.tokenizer.options["tools"]) == (
        True,
        [{"name": "add"}],
    )


def test_tools_that_a_template_does_not_show_are_said_once(heard: pytest.LogCaptureFixture) -> None:
    encoder = Encoder(Letters(), 9)
    for _ in range(2):
        encoder.text_of(Prompt(chat("user")), tools=[{"name": "add"}])
    assert heard.text.count("shows no tools") == 1


def test_a_template_that_takes_no_system_message_gets_none() -> None:
    tokenizer = Letters()
    tokenizer.refuses = ("system",)
    assert Encoder(tokenizer, 9).text_of(Prompt(chat("system", "user"))) == "u"
    tokenizer.refuses = ("user",)
    for roles in (("user",), ("system", "user")):
        with pytest.raises(RefusedError, match="refuses the messages: no user"):
            Encoder(tokenizer, 9).text_of(Prompt(chat(*roles)))
    tokenizer.chat_template = None
    with pytest.raises(RefusedError, match="has no chat template"):
        Encoder(tokenizer, 9).text_of(Prompt(chat("user")))


@pytest.mark.parametrize(
    "given, own, used",
    [
        (None, "{{ a }}", None),
        ("{{ b }}", "{{ a }}", "{{ b }}"),
        ("rag", {"rag": "{{ a }}"}, "rag"),
        ("default", "{{ a }}", None),
    ],
)
def test_a_chat_template_is_given_or_named(given, own, used) -> None:
    tokenizer = Letters()
    tokenizer.chat_template = own
    Encoder(tokenizer, 9, chat_template=given).text_of(Prompt(chat("user")))
    assert tokenizer.options.get("chat_template") == used


@pytest.mark.parametrize(
    "own, why",
    [({"rag": "{{ a }}"}, "it has 'rag'"), ("{{ a }}", "it has one, without a name"), (None, "it has none")],
)
def test_a_chat_template_that_is_not_there_is_refused(own, why) -> None:
    tokenizer = Letters()
    tokenizer.chat_template = own
    with pytest.raises(UsageError, match=f"no chat template 'tools'(.|\n)*{why}"):
        Encoder(tokenizer, 9, chat_template="tools").text_of(Prompt(chat("user")))


def test_pictures_are_refused_by_models_of_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}]
    assert Encoder(Letters(), 9).text_of(Prompt([{"role": "user", "content": parts}])) == "ab"
    media = [*parts, {"type": "video"}, {"type": "image_url"}]
    with pytest.raises(RefusedError, match="holds image_url, video, and"):
        Encoder(Letters(), 9).text_of(Prompt([{"role": "user", "content": media}]))


# -- what does not fit ------------------------------------------------------------------------------------------

SPANS = (Span("aaa", "demo[0].question"), Span("bbb", "demo[1].question"), Span("cc", "question"))
LONG = Prompt("aaabbbcc", lambda: (Turn("user", SPANS),))


def fitted(room: int, truncate: Any, prompt: Prompt = LONG, *, joined: bool = True) -> str:
    encoder = Encoder(Letters(), room, joined=joined, add_bos=False)
    (found,) = encoder.encode_prompts([prompt.text])
    return bytes(fitted_prompt(encoder, prompt, found, 2, truncate)).decode()


def test_a_prompt_leaves_room_for_its_answer() -> None:
    assert fitted(10, "none") == "aaabbbcc"
    assert fitted(8, "none", joined=False) == "aaabbbcc"
    assert (fitted(9, "left"), fitted(9, "demos"), fitted(7, "demos"), fitted(6, "demos")) == (
        "aabbbcc",
        "bbbcc",
        "bbbcc",
        "cc",
    )
    assert fitted(9, "none", Prompt("")) == "\x01"
    with pytest.raises(RefusedError, match=r"1 tokens longer than the 7 there is room for \(--truncate left .*demos "):
        fitted(9, "none")
    with pytest.raises(RefusedError, match="5 tokens longer than the 3"):
        fitted(5, "demos", Prompt("aaabbbcc"))
    with pytest.raises(RefusedError, match="2 tokens to write leave no room in a context of 2"):
        fitted(2, "left")
    assert fitted(3, "left") == "c"


def fitted_context(room: int, truncate: Any, *, joined: bool = True) -> str:
    encoder = Encoder(Letters(), room, joined=joined, add_bos=False)
    ((context, continuation),) = encoder.encode_pairs([(LONG.text, "xyz")])
    found = fitted_pair(encoder, Pair(LONG, "xyz"), (context, continuation), truncate)
    return bytes(found.inputs).decode()


def test_the_last_token_of_a_continuation_is_never_read() -> None:
    assert fitted_context(10, "none") == "aaabbbccxy"
    assert fitted_context(8, "none", joined=False) == "aaabbbcc"
    assert (fitted_context(9, "left"), fitted_context(9, "demos"), fitted_context(7, "demos")) == (
        "aabbbccxy",
        "bbbccxy",
        "bbbccxy",
    )
    with pytest.raises(RefusedError, match="the request is 1 tokens longer than the context"):
        fitted_context(9, "none")
    with pytest.raises(RefusedError, match=r"\(--truncate left drops the beginning\)"):
        fitted_context(3, "demos")


def test_choices_lose_the_same_demonstrations() -> None:
    pairs = (Pair(LONG, "x"), Pair(LONG, "y"))
    shorter = list(shorter_requests(Choose(pairs)))
    assert [[(each.context.text, each.continuation) for each in request.pairs] for request in shorter] == [
        [("bbbcc", "x"), ("bbbcc", "y")],
        [("cc", "x"), ("cc", "y")],
    ]
    assert [each.prompt.text for each in shorter_requests(Generate(LONG))] == ["bbbcc", "cc"]
    assert [each.context.text for each in shorter_requests(Likelihood(LONG, "x"))] == ["bbbcc", "cc"]
    assert list(shorter_requests(Rolling("aaabbbcc"))) == []


# -- texts in pieces -----------------------------------------------------------------------------------------------

_CORPUS = [
    "Question: what is the name of the river?\nA. the long one\nB. word next\nAnswer: A\n\n",
    "don't stop it  now 12 3",
]


def _trained(kind: str) -> Any:
    """A small tokenizer: of words apart (``bytes``, ``words``, ``metaspace``), or whose tokens may be whole phrases."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    from tokenizers import models, normalizers, pre_tokenizers, processors, trainers

    model = models.Unigram() if kind == "metaspace" else models.BPE(unk_token="<u>")
    found = tokenizers.Tokenizer(model)
    special = ["<u>", "<s>", {"added": "one of", "trailing": "name "}.get(kind, "<x>")]
    if kind == "metaspace":
        found.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer: Any = trainers.UnigramTrainer(vocab_size=90, special_tokens=special, unk_token="<u>")
    else:
        trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=special, min_frequency=1)
    if kind in ("bytes", "bos", "eos", "added", "trailing"):
        found.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer.initial_alphabet = pre_tokenizers.ByteLevel.alphabet()
    if kind == "words":
        found.normalizer, found.pre_tokenizer = normalizers.Lowercase(), pre_tokenizers.Whitespace()
    if kind == "phrases":
        found.normalizer = normalizers.Replace(" ", "_")
        found.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    if kind in ("behind", "lines", "long"):
        pattern = {"behind": r"\w+ |\s", "lines": r"\n\w+ \w+|\w+|\W", "long": r"\w+ \w{5,}|\w+|\W"}[kind]
        found.pre_tokenizer = pre_tokenizers.Split(tokenizers.Regex(pattern), "isolated")
    if kind == "stripped":
        found.normalizer, found.pre_tokenizer = normalizers.Strip(), pre_tokenizers.ByteLevel(add_prefix_space=False)
    found.train_from_iterator(_CORPUS * 20, trainer)
    if kind in ("bos", "eos"):
        single = "<s> $A" if kind == "bos" else "$A <s>"
        found.post_processor = processors.TemplateProcessing(single=single, special_tokens=[("<s>", 1)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=found, unk_token="<u>", eos_token="<s>")


_TEXTS = st.lists(
    st.sampled_from([*"ab A.1\n'", " one of", "the name", "\nA. the ", "\n\nQuestion: what is", "é", "<s>"])
)


@pytest.mark.parametrize(
    "kind, cuts",
    [
        *(("bytes", True), ("bos", True), ("eos", True), ("words", True), ("metaspace", True)),
        *(("phrases", False), ("stripped", False), ("added", False), ("trailing", False)),
        *(("behind", False), ("lines", False), ("long", False)),
    ],
)
def test_texts_in_pieces_have_the_tokens_of_whole_texts(kind, cuts):
    tokenizer = _trained(kind)
    lines = "Question: what is it\nA. the one of\nB. word next to it\nAnswer:"
    encoder = Encoder(tokenizer, 100)
    encoder.encode_pairs([(lines, " A"), (lines, " the name")])
    assert encoder._cuts is cuts

    @given(st.lists(_TEXTS.map("".join), min_size=1, max_size=4))
    def check(texts: list[str]) -> None:
        pairs = [(text, end) for text in [lines, *texts] for end in (" A", " B b", "\nC. one of them")]
        whole = Encoder(tokenizer, 100, _cuts=False)
        assert Encoder(tokenizer, 100).encode_pairs(pairs) == whole.encode_pairs(pairs)
        assert Encoder(tokenizer, 100).encode_prompts(texts) == whole.encode_prompts(texts)

    check()


def test_what_texts_share_is_encoded_once():
    tokenizer = _trained("bytes")
    asked: list[str] = []

    def counting(texts: Sequence[str], **options: Any) -> Any:
        asked.extend(texts)
        return tokenizer(texts, **options)

    demos = "".join(f"Question: what is {number}\nAnswer: the one of {number}\n\n" for number in range(20))
    encoder = Encoder(tokenizer, 10_000)
    encoder.encode_pairs([("x\ny z w", "v")])
    names = {"__call__": staticmethod(counting), "__getattr__": lambda _, name: getattr(tokenizer, name)}
    encoder.tokenizer = type("Counting", (), names)()
    pairs = [(f"{demos}Question: what is {n} here\nAnswer:", f" {c}") for n in range(30) for c in "ABCD"]
    encoder.encode_pairs(pairs)
    assert sum(map(len, asked)) < 0.05 * sum(len(context) * 1.25 for context, _ in pairs)


@pytest.mark.parametrize("lacks", ["backend", "pre_tokenizer", "dropout"])
def test_a_tokenizer_that_does_not_say_where_it_cuts_or_draws_is_given_whole_texts(lacks):
    splitter = SimpleNamespace(pre_tokenize_str=lambda text: [(char, (at, at + 1)) for at, char in enumerate(text)])
    backend = SimpleNamespace(
        pre_tokenizer=None if lacks == "pre_tokenizer" else splitter,
        model=SimpleNamespace(dropout=0.1 if lacks == "dropout" else None),
        normalizer=None,
        get_added_tokens_decoder=dict,
    )
    known = SimpleNamespace() if lacks == "backend" else SimpleNamespace(backend_tokenizer=backend)
    assert _keeps_words_apart(known) is False
    backend.pre_tokenizer, backend.model.dropout = splitter, None
    assert _keeps_words_apart(SimpleNamespace(backend_tokenizer=backend)) is True
