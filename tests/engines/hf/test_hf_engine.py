from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tiny_models import WORDS

from proctor.engines.hf import answers as hf_answers
from proctor.engines.hf import packed_scoring
from proctor.engines.hf.batches import Budget, run_batches
from proctor.engines.hf.generate import _Recorder
from proctor.engines.hf.hf_engine import WINDOW, HFEngine
from proctor.errors import EngineError, TrustError, ValidationError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Response, Rolling, Span, Turn
from proctor.settings import settings

TOLERANCE = 1e-4


def words(seed: int, count: int) -> str:
    stream = random.Random(seed)
    return " ".join(stream.choice(WORDS) for _ in range(count))


def exam(documents: int = 12) -> list[Any]:
    """Requests of every kind, ragged, with shared demonstrations, duplicates and single-token choices."""
    demos = words(0, 12)
    requests: list[Any] = []
    for doc in range(documents):
        context = Prompt(f"{demos}\n\n{words(doc + 1, 1 + doc % 5)} ")
        requests.append(Choose(tuple(Pair(context, words(100 * doc + n, 1 + n)) for n in range(3))))
        requests.append(Choose(tuple(Pair(context, letter) for letter in "ABCD")))
    requests += [Likelihood(Prompt(""), "cat"), Likelihood(Prompt("  "), "cat"), Likelihood(Prompt("<s>the"), " cat")]
    requests += [Rolling(words(7, 5)), Rolling(words(8, 200)), requests[0]]
    return requests


_BIG = Span("big\n", "instruction")


def _ids(engine: HFEngine, text: str) -> list[int]:
    return engine.loaded.tokenizer.encode(text)


def answers(engine: HFEngine, requests: list[Any], method: str = "score") -> list[Response]:
    found = dict(getattr(engine, method)(iter(requests)))
    assert sorted(found) == list(range(len(requests)))
    return [found[index] for index in range(len(requests))]


@cache
def loaded_by_hand(folder: Path) -> tuple[Any, Any]:
    """Return the tokenizer and the model, with nothing but transformers."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return AutoTokenizer.from_pretrained(folder), model


def by_hand(folder: Path, context: str, continuation: str) -> tuple[float, bool, int]:
    """Score one continuation with nothing but transformers and the boundary rule of lm-evaluation-harness."""
    import torch

    tokenizer, model = loaded_by_hand(folder)
    kept = context.rstrip()
    continuation, context = context[len(kept) :] + continuation, kept
    if context:
        whole = tokenizer.encode(context + continuation)
        before = tokenizer.encode(context)
    else:
        before, whole = [1], [1, *tokenizer.encode(continuation)]
    targets = whole[len(before) :]
    with torch.inference_mode():
        rows = model(torch.tensor([whole[:-1]])).logits[0].log_softmax(-1)[-len(targets) :]
    hits = rows.argmax(-1).tolist() == targets
    return float(rows.gather(1, torch.tensor(targets)[:, None]).sum()), hits, len(targets)


@cache
def one_by_one(folder: Path) -> list[Response]:
    """Return the answers to an exam whose requests share nothing."""
    return answers(HFEngine(folder, batch_size=1, share_prefixes=False), exam())


def assert_equal(first: list[Response], second: list[Response]) -> None:
    for one, other in zip(first, second, strict=True):
        assert one.failure == other.failure
        for a, b in zip(one.scores, other.scores, strict=True):
            assert a.log_likelihood == pytest.approx(b.log_likelihood, abs=TOLERANCE, rel=1e-6)
            assert (a.is_greedy, a.token_count) == (b.is_greedy, b.token_count)


class TestScoring:
    def test_equals_a_plain_forward_pass(self, tiny_causal):
        requests = [request for request in exam() if isinstance(request, (Choose, Likelihood))]
        for request, response in zip(requests, answers(HFEngine(tiny_causal), requests), strict=True):
            for pair, found in zip(request.pairs, response.scores, strict=True):
                value, greedy, count = by_hand(tiny_causal, pair.context.text, pair.continuation)
                assert found.log_likelihood == pytest.approx(value, abs=TOLERANCE)
                assert (found.is_greedy, found.token_count) == (greedy, count)

    @pytest.mark.parametrize("batch_size", [1, 2, 7, 64, "auto"])
    @pytest.mark.parametrize("share", [True, False])
    def test_does_not_depend_on_batches_or_sharing(self, tiny_causal, batch_size, share):
        found = answers(HFEngine(tiny_causal, batch_size=batch_size, share_prefixes=share, batch_tokens=64), exam())
        assert_equal(found, one_by_one(tiny_causal))

    def test_prefixes_are_really_shared(self, tiny_causal):
        engine = HFEngine(tiny_causal)
        answers(engine, exam())
        assert engine.loaded.packs is True

    def test_models_that_cannot_share_are_still_right(self, tiny_forgetful):
        engine = HFEngine(tiny_forgetful)
        requests = exam(4)
        assert_equal(answers(engine, requests), answers(HFEngine(tiny_forgetful, batch_size=1), requests))
        assert engine.loaded.packs is False

    def test_long_contexts_lose_their_beginning(self, tiny_causal):
        long = " ".join([words(3, 300), words(4, 3)])
        engine, short = HFEngine(tiny_causal), HFEngine(tiny_causal, max_length=16)
        (cut,) = answers(short, [Likelihood(Prompt(long), " cat")])
        ids = engine.loaded.tokenizer.encode(long + " cat")
        text = engine.loaded.tokenizer.decode(ids[-17:-1])
        (same,) = answers(engine, [Likelihood(Prompt(text), " cat")])
        assert cut.scores[0].log_likelihood == pytest.approx(same.scores[0].log_likelihood, abs=TOLERANCE)

    def test_truncation_can_be_refused(self, tiny_llama):
        engine = HFEngine(tiny_llama, max_length=16, truncate="none")
        long, short = answers(engine, [Likelihood(Prompt(words(3, 300)), " cat"), Likelihood(Prompt("the"), " cat")])
        assert long.failure.kind == "context_too_long"
        assert "tokens longer" in long.failure.message
        assert short.failure is None

    def test_whole_demos_are_dropped_where_that_is_wanted(self, tiny_llama):
        engine = HFEngine(tiny_llama, max_length=40, max_new_tokens=4, truncate="demos")
        demos = [words(seed, 8) + "\n" for seed in range(4)]
        spans = [Span(demo, f"demo[{index}].question") for index, demo in enumerate(demos)]
        long = Prompt("big\n" + "".join(demos) + "why", lambda: (Turn("user", (_BIG, *spans, Span("why"))),))
        kept = next(k for k in range(5) if len(_ids(engine, "big\n" + "".join(demos[k:]) + "why")) <= 36)
        assert 0 < kept < 4
        short = Prompt("big\n" + "".join(demos[kept:]) + "why")
        written = answers(engine, [Generate(long), Generate(short)], "generate")
        assert written[0].text == written[1].text
        scored = answers(engine, [Likelihood(long, " the cat sat"), Likelihood(short, " the cat sat")])
        assert scored[0].failure is None
        assert scored[0].scores[0].log_likelihood == pytest.approx(scored[1].scores[0].log_likelihood, abs=TOLERANCE)

    def test_a_prompt_that_is_too_long_without_demos_is_a_failure(self, tiny_llama):
        engine = HFEngine(tiny_llama, max_length=16, max_new_tokens=4, truncate="demos")
        (response,) = answers(engine, [Generate(Prompt(words(1, 90)))], "generate")
        assert response.failure.kind == "context_too_long"

    def test_a_continuation_that_cannot_be_scored_is_a_failure_of_its_own(self, tiny_llama):
        requests = [
            Likelihood(Prompt("the"), ""),
            Likelihood(Prompt("the"), " " + words(1, 400)),
            Rolling(""),
            Likelihood(Prompt("the"), " cat"),
        ]
        empty, long, nothing, fine = answers(HFEngine(tiny_llama, max_length=64), requests)
        assert [each.failure.kind for each in (empty, long, nothing)] == ["engine", "context_too_long", "engine"]
        assert not empty.failure.retryable
        assert fine.scores[0].log_likelihood < 0

    def test_rolling_windows_predict_every_token_once(self, tiny_llama):
        text = words(9, 120)
        engine = HFEngine(tiny_llama, max_length=32)
        (response,) = answers(engine, [Rolling(text)])
        ids = engine.loaded.tokenizer.encode(text)
        assert len(ids) % 32, "the last window should be shorter"
        assert response.scores[0].token_count == len(ids)
        assert response.scores[0].log_likelihood == pytest.approx(self._rolled(engine, ids, 32), abs=1e-3)

    def _rolled(self, engine: HFEngine, ids: list[int], size: int) -> float:
        import torch

        total = 0.0
        for start in range(0, len(ids), size):
            end = min(start + size, len(ids))
            inputs = [1, *ids[: end - 1]] if start == 0 else ids[end - size - 1 : end - 1]
            with torch.inference_mode():
                rows = engine.loaded.model(torch.tensor([inputs])).logits[0].log_softmax(-1)[-(end - start) :]
            total += float(rows.gather(1, torch.tensor(ids[start:end])[:, None]).sum())
        return total

    def test_a_continued_text_leaves_its_first_token_out(self, tiny_llama):
        import torch

        text = words(9, 20)
        engine = HFEngine(tiny_llama, max_length=32)
        whole, long, one = answers(engine, [Rolling(each, from_start=False) for each in (text, words(9, 99), "a")])
        ids = torch.tensor([engine.loaded.tokenizer.encode(text)])
        with torch.inference_mode():
            loss = engine.loaded.model(ids, labels=ids).loss
        assert whole.scores[0].token_count == ids.shape[1] - 1
        assert -whole.scores[0].log_likelihood / whole.scores[0].token_count == pytest.approx(float(loss), abs=1e-4)
        assert [long.failure.kind, one.failure.kind] == ["context_too_long", "engine"]

    def test_chat_contexts_use_the_template(self, tiny_llama):
        messages = [{"role": "user", "content": "why"}]
        chat, text = answers(
            HFEngine(tiny_llama),
            [
                Likelihood(Prompt(messages), "sun"),
                Likelihood(Prompt("<s>user: why</s><s>assistant: "), "sun"),
            ],
        )
        assert chat.scores == text.scores

    def test_reads_no_further_than_a_window(self, tiny_llama):
        taken = 0

        def stream():
            nonlocal taken
            while True:
                taken += 1
                yield Likelihood(Prompt("the"), " cat")

        found = HFEngine(tiny_llama).score(stream())
        next(found)
        assert taken == WINDOW

    def test_seq2seq_reads_context_and_continuation_apart(self, tiny_t5):
        import torch

        engine = HFEngine(tiny_t5)
        requests = [
            Choose((Pair(Prompt("the cat "), "sat"), Pair(Prompt("the cat"), " sat on"), Pair(Prompt("a"), "b")))
        ]
        (response,) = answers(engine, requests)
        tokenizer, model = engine.loaded.tokenizer, engine.loaded.model
        for pair, found in zip([("the cat", " sat"), ("the cat", " sat on"), ("a", "b")], response.scores, strict=True):
            labels = torch.tensor([tokenizer.encode(pair[1], add_special_tokens=False)])
            with torch.inference_mode():
                rows = model(torch.tensor([tokenizer.encode(pair[0])]), labels=labels).logits[0].log_softmax(-1)
            assert found.log_likelihood == pytest.approx(float(rows.gather(1, labels[0][:, None]).sum()), abs=TOLERANCE)


def test_answers_say_when_they_were_asked_and_how_long_they_took(tiny_llama):
    """Latency in results is made of these."""
    import time

    begun, clock = time.time(), time.perf_counter()
    engine = HFEngine(tiny_llama, max_new_tokens=2)
    found = answers(engine, exam(2)) + answers(engine, [Generate(Prompt("the cat"))], "generate")
    took = time.perf_counter() - clock
    assert all(begun <= each.timing.started <= begun + took for each in found)
    assert all(0 < each.timing.seconds <= took for each in found)


class TestGeneration:
    def test_equals_transformers(self, tiny_causal):
        import torch

        engine = HFEngine(tiny_causal, max_new_tokens=12)
        prompts = [words(seed, 1 + 3 * seed) for seed in range(6)]
        for prompt, response in zip(
            prompts, answers(engine, [Generate(Prompt(prompt)) for prompt in prompts], "generate"), strict=True
        ):
            ids = torch.tensor([engine.loaded.tokenizer.encode(prompt)])
            plain = engine.loaded.model.generate(ids, max_new_tokens=12, do_sample=False, pad_token_id=0)
            expected = engine.loaded.tokenizer.decode(plain[0, ids.shape[1] :], skip_special_tokens=True)
            assert response.text == expected
            assert response.usage.prompt_tokens == ids.shape[1]

    @pytest.mark.parametrize("batch_size", [1, 3, 64])
    @pytest.mark.parametrize("decoding", [Decoding(max_tokens=8), Decoding(max_tokens=8, temperature=1.0, count=3)])
    def test_does_not_depend_on_batches_or_order(self, tiny_causal, batch_size, decoding):
        requests = [Generate(Prompt(words(seed, 1 + seed)), decoding) for seed in range(9)]
        alone = [answers(HFEngine(tiny_causal, batch_size=1), [request], "generate")[0].texts for request in requests]
        found = answers(HFEngine(tiny_causal, batch_size=batch_size), requests[::-1], "generate")
        assert [response.texts for response in found[::-1]] == alone

    def test_sampling_follows_its_seed(self, tiny_llama):
        def texts(seed: int) -> tuple[str, ...]:
            decoding = Decoding(max_tokens=10, temperature=1.0, top_p=0.95, top_k=50, seed=seed, count=2)
            return answers(HFEngine(tiny_llama), [Generate(Prompt("the"), decoding)], "generate")[0].texts

        assert texts(1) == texts(1)
        assert len({*texts(1), *texts(2)}) == 4

    def test_sampling_draws_from_the_models_distribution(self, tiny_llama):
        engine = HFEngine(tiny_llama)
        decoding = Decoding(max_tokens=1, temperature=1.0, top_k=2, count=400, extra={"logprobs": True})
        (response,) = answers(engine, [Generate(Prompt("the cat"), decoding)], "generate")
        seen = {row[0].token: row[0].log_probability for row in response.tokens}
        assert len(seen) == 2
        import math

        weights = {token: math.exp(value) for token, value in seen.items()}
        counts = {token: sum(row[0].token == token for row in response.tokens) for token in seen}
        for token, weight in weights.items():
            expected = weight / sum(weights.values())
            assert counts[token] / 400 == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / 400))

    def test_stop_strings_end_each_row_by_itself(self, tiny_llama):
        engine = HFEngine(tiny_llama, max_new_tokens=20)
        (free,) = answers(engine, [Generate(Prompt("the cat"))], "generate")
        stop = free.text[4:7]
        stopped, other = answers(
            engine,
            [Generate(Prompt("the cat"), Decoding(stop=("never seen", stop))), Generate(Prompt("the cat"))],
            "generate",
        )
        assert stopped.text == free.text.split(stop)[0]
        assert stopped.finish_reasons == ("stop",)
        assert stopped.usage.completion_tokens < free.usage.completion_tokens
        assert other.text == free.text

    def test_thinking_is_removed_and_stops_count_only_behind_it(self, tiny_llama):
        (free,) = answers(HFEngine(tiny_llama, max_new_tokens=30), [Generate(Prompt("sun"))], "generate")
        middle = free.text[8:12]
        early = free.text[:2]
        engine = HFEngine(tiny_llama, max_new_tokens=30, think_end_token=middle)
        (found,) = answers(engine, [Generate(Prompt("sun"), Decoding(stop=(early,)))], "generate")
        after = free.text.rpartition(middle)[2].lstrip()
        assert found.text == after.split(early)[0]

    def test_log_probabilities_of_what_was_written(self, tiny_llama):
        import torch

        engine = HFEngine(tiny_llama)
        (without,) = answers(
            engine, [Generate(Prompt("the cat"), Decoding(max_tokens=2, extra={"logprobs": True}))], "generate"
        )
        assert [each.top for each in without.tokens[0]] == [(), ()]
        decoding = Decoding(max_tokens=5, extra={"logprobs": 3})
        (response,) = answers(engine, [Generate(Prompt("the cat"), decoding)], "generate")
        (tokens,) = response.tokens
        assert len(tokens) == 5
        assert all(len(token.top) == 3 and token.top[0] == (token.token, token.log_probability) for token in tokens)
        ids = torch.tensor([engine.loaded.tokenizer.encode("the cat")])
        plain = engine.loaded.model.generate(
            ids, max_new_tokens=5, do_sample=False, pad_token_id=0, output_logits=True, return_dict_in_generate=True
        )
        expected = [float(logits.log_softmax(-1).max()) for logits in plain.logits]
        assert [token.log_probability for token in tokens] == pytest.approx(expected, abs=TOLERANCE)

    def test_messages_go_through_the_template_and_an_open_answer_is_continued(self, tiny_llama):
        def text(payload: Any) -> str:
            return answers(HFEngine(tiny_llama, max_new_tokens=6), [Generate(Prompt(payload))], "generate")[0].text

        user = {"role": "user", "content": "why"}
        assert text([user]) == text("<s>user: why</s><s>assistant: ")
        assert text([user, {"role": "assistant", "content": "the"}]) == text("<s>user: why</s><s>assistant: the")

    def test_one_bad_request_does_not_spoil_the_others(self, tiny_llama):
        requests = [
            Generate(Prompt([{"role": "tool", "content": "x"}])),
            Generate(Prompt([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])),
            Generate(Prompt("the"), Decoding(max_tokens=500)),
            Generate(Prompt("the"), Decoding(extra={"no_such_parameter": 1})),
            Generate(Prompt("the"), Decoding(max_tokens=3)),
        ]
        *bad, good = answers(HFEngine(tiny_llama), requests, "generate")
        assert [each.failure.kind for each in bad] == ["engine", "engine", "context_too_long", "engine"]
        assert "no_such_parameter" in bad[3].failure.message
        assert good.failure is None
        assert good.usage.completion_tokens == 3

    def test_generation_parameters_reach_transformers(self, tiny_llama):
        engine = HFEngine(tiny_llama, max_new_tokens=12)
        plain, bound = answers(
            engine,
            [
                Generate(Prompt("the")),
                Generate(Prompt("the"), Decoding(extra={"no_repeat_ngram_size": 1, "do_sample": False})),
            ],
            "generate",
        )
        assert plain.text != bound.text

    def test_equal_requests_are_answered_once(self, tiny_llama, monkeypatch):
        rows: list[int] = []
        real = hf_answers.write

        def counting(loaded: Any, drafts: Any, *rest: Any) -> Any:
            rows.append(len(drafts))
            return real(loaded, drafts, *rest)

        monkeypatch.setattr(hf_answers, "write", counting)
        decoding = Decoding(max_tokens=3, count=4)
        found = answers(HFEngine(tiny_llama), [Generate(Prompt("the"), decoding)] * 5, "generate")
        assert rows == [1]
        assert {response.texts for response in found} == {found[0].texts[:1] * 4}

    def test_seq2seq_writes(self, tiny_t5):
        import torch

        engine = HFEngine(tiny_t5, max_new_tokens=6)
        (response,) = answers(engine, [Generate(Prompt("the cat"))], "generate")
        ids = torch.tensor([engine.loaded.tokenizer.encode("the cat")])
        plain = engine.loaded.model.generate(ids, max_new_tokens=6, do_sample=False)
        assert response.text == engine.loaded.tokenizer.decode(plain[0], skip_special_tokens=True)


class TestMemory:
    def test_batches_that_do_not_fit_are_halved_and_the_lesson_is_kept(self):
        import torch

        sizes = []

        def run(batch):
            sizes.append(len(batch))
            if len(batch) > 3:
                raise torch.OutOfMemoryError
            return [item * 2 for item in batch]

        budget = Budget(8, 100)
        found = dict(run_batches([1, 2, 3, 4, 5, 6, 7, 8, 9], lambda item: item, budget, run))
        assert found == {item: item * 2 for item in range(1, 10)}
        assert sizes == [8, 4, 2, 2, 2, 2, 1]
        assert budget.sequences == 2

    def test_a_single_sequence_that_does_not_fit_fails_alone(self):
        def run(batch):
            if 9 in batch:
                raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes")
            return batch

        assert dict(run_batches([1, 9], lambda item: item, Budget(None, 100), run)) == {9: None, 1: 1}

    @pytest.mark.parametrize(
        "message",
        [
            "CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call",
            "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            "MPS backend out of memory (MPS allocated: 9.00 GB, max allowed: 9.07 GB).",
            "[enforce fail at alloc_cpu.cpp:114] DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes.",
        ],
    )
    def test_every_device_has_words_of_its_own_for_it(self, message):
        def run(batch):
            raise RuntimeError(message)

        assert dict(run_batches([1, 9], lambda item: item, Budget(None, 100), run)) == {9: None, 1: None}

    def test_a_single_prompt_that_does_not_fit_says_what_to_do(self, tiny_llama, monkeypatch):
        import torch

        engine = HFEngine(tiny_llama, max_new_tokens=2)
        real = type(engine.loaded.model).forward

        def tight(self, input_ids=None, *arguments, **options):
            if input_ids is not None and input_ids.shape[-1] > 20:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")
            return real(self, input_ids, *arguments, **options)

        monkeypatch.setattr(type(engine.loaded.model), "forward", tight)
        found = dict(engine.generate([Generate(Prompt("the cat")), Generate(Prompt("the cat sat on the mat " * 9))]))
        assert found[0].failure is None
        assert found[1].failure.kind == "out_of_memory"
        assert "max_length=2048" in found[1].failure.message

    def test_a_model_that_does_not_fit_says_what_to_do(self, tiny_llama, monkeypatch):
        import torch
        import transformers

        def full(*_: Any, **__: Any) -> None:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB.")

        monkeypatch.setattr(transformers.AutoModelForCausalLM, "from_pretrained", full)
        with pytest.raises(EngineError, match="does not fit into memory") as caught:
            list(HFEngine(tiny_llama).generate([Generate(Prompt("the cat"))]))
        assert "device_map=auto" in str(caught.value)

    def test_other_errors_are_not_swallowed(self):
        def run(batch):
            raise RuntimeError("the model is broken")

        with pytest.raises(RuntimeError, match="broken"):
            list(run_batches([1], lambda item: item, Budget(1, 1), run))

    def test_scoring_survives_running_out_of_memory(self, tiny_llama, monkeypatch):
        import torch

        requests = exam(4)
        expected = answers(HFEngine(tiny_llama), requests)
        real = packed_scoring._forward

        def tight(loaded, step, memory):
            if len(step.tokens) > 70:
                raise torch.OutOfMemoryError
            return real(loaded, step, memory)

        monkeypatch.setattr(packed_scoring, "_forward", tight)
        assert_equal(answers(HFEngine(tiny_llama), requests), expected)

    def test_scoring_falls_back_when_no_step_fits(self, tiny_llama, monkeypatch):
        import torch

        requests = exam(2)
        expected = answers(HFEngine(tiny_llama), requests)
        engine = HFEngine(tiny_llama)
        engine.loaded.packs = True

        def full(*_: Any) -> None:
            raise torch.OutOfMemoryError

        monkeypatch.setattr(packed_scoring, "_forward", full)
        assert_equal(answers(engine, requests), expected)


class TestConfiguration:
    def test_a_model_is_found_in_the_mapped_folder(self, tiny_llama, tmp_path):
        (tmp_path / "maker").mkdir()
        (tmp_path / "maker" / "tiny").symlink_to(tiny_llama)
        with settings.context(models_dir=tmp_path):
            assert HFEngine("maker/tiny").loaded.max_length == 128

    def test_a_model_that_is_nowhere_says_where_it_was_looked_for(self, tmp_path):
        with settings.context(models_dir=tmp_path, offline=True), pytest.raises(EngineError) as caught:
            HFEngine("maker/missing").loaded
        assert str(tmp_path / "maker" / "missing") in str(caught.value)
        assert "offline" in str(caught.value)
        assert "PROCTOR_MODELS_DIR" in str(caught.value)

    def test_a_folder_that_is_not_there_is_no_hub_id(self, tmp_path):
        with pytest.raises(EngineError, match=f"there is no folder '{tmp_path}/model'"):
            HFEngine(f"{tmp_path}/model").loaded

    def test_a_broken_folder_is_named(self, tmp_path):
        (tmp_path / "config.json").write_text("{")
        with pytest.raises(EngineError, match="cannot be loaded from"):
            HFEngine(str(tmp_path)).loaded

    def test_code_of_a_model_needs_trust(self, tiny_llama):
        with pytest.raises(TrustError, match="code of its own"):
            HFEngine(tiny_llama, trust_remote_code=True).loaded

    @pytest.mark.parametrize("field, value", [("device", "cuda:0"), ("device", "nowhere"), ("dtype", "float7")])
    def test_what_is_not_there_is_said(self, tiny_llama, field, value):
        import torch

        if value == "cuda:0" and torch.cuda.is_available():
            pytest.skip("there is a GPU")
        with pytest.raises(EngineError, match=value):
            HFEngine(tiny_llama, **{field: value}).loaded

    @pytest.mark.parametrize("value", [0, -1, "many", "auto4"])
    def test_impossible_batch_sizes(self, value):
        with pytest.raises(ValidationError, match="batch size"):
            HFEngine("x", batch_size=value)

    @pytest.mark.parametrize("value", ["8", "auto", "auto:4", 8])
    def test_possible_batch_sizes(self, value):
        assert HFEngine("x", batch_size=value).batch_size in {8, "auto", "auto:4"}

    def test_names_of_other_systems(self):
        assert HFEngine(pretrained="x", max_gen_toks=7) == HFEngine(model="x", max_new_tokens=7)

    def test_identity_is_about_answers_not_about_speed(self):
        assert HFEngine("x", batch_size=1, device="cpu").identity == HFEngine("x", share_prefixes=False).identity
        assert HFEngine("x").identity != HFEngine("y").identity
        assert HFEngine("x").identity != HFEngine("x", dtype="float16").identity

    def test_nothing_asked_loads_nothing(self):
        assert list(HFEngine("there/is/no/such/model").score([])) == []

    def test_a_model_that_breaks_down_is_an_engine_error(self, tiny_llama, monkeypatch):
        engine = HFEngine(tiny_llama, share_prefixes=False)

        def broken(*_: Any) -> None:
            raise IndexError("index out of range in self")

        monkeypatch.setattr(hf_answers, "score_batch", broken)
        with pytest.raises(EngineError, match="broke down"):
            answers(engine, [Likelihood(Prompt("the"), " cat")])

    def test_closing_frees_the_model_and_the_next_request_loads_it(self, tiny_llama):
        engine = HFEngine(tiny_llama)
        request = [Likelihood(Prompt("the"), " cat")]
        before = answers(engine, request)
        engine.close()
        assert engine._loaded is None
        assert_equal(answers(engine, request), before)
        engine.close()
        engine.close()


def test_log_probabilities_of_tokens_keep_no_prompt_in_memory():
    torch = pytest.importorskip("torch")
    recorder = _Recorder(logprobs=True, top=2)
    for length in (1000, 1001):
        recorder.look(torch.zeros(1), torch.zeros(3, 50))
        recorder.note(torch.zeros(3, length, dtype=torch.long))
    held = {each.data_ptr(): each.untyped_storage().nbytes() for step in recorder._seen for each in step}
    assert sum(held.values()) < 1000
