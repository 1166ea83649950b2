"""Marks for the caches of providers, with a provider that bills as Anthropic, OpenAI and Amazon say they do."""

import asyncio
import json

import pytest

from proctor.engines.http.provider_engine import ProviderEngine
from proctor.engines.http.transport import Reply
from proctor.ir import Decoding, Generate, Prompt, Usage, total_usage
from proctor.running.budget import Price

PRICE = Price(1.0, 4.0, cached_input=0.1, cache_write=1.25)
MARKS = ("cache_control", "cachePoint", "prompt_cache_breakpoint")


def text_of(part) -> str:
    return part if isinstance(part, str) else part.get("text", "")


class Provider:
    """Keeps beginnings that end at a mark, once their answer is given; four bytes are a token."""

    def __init__(self, least: int = 1024, refusal: str = ""):
        self.least, self.refusal = least, refusal
        self.bodies: list[dict] = []
        self.kept: set[str] = set()
        self.under_way = 0

    async def post(self, url, body, headers, timeout_seconds):
        data = json.loads(body)
        self.bodies.append(data)
        if self.refusal and any(mark in body.decode() for mark in (*MARKS, "prompt_cache")):
            return Reply(400, {}, json.dumps({"error": {"message": self.refusal}}).encode())
        found, written, seen, whole = 0, 0, "", ""
        for message in [{"content": data.get("system", "")}, *data["messages"]]:
            content = message["content"]
            for part in [content] if isinstance(content, str) else content:
                whole += text_of(part)
                if isinstance(part, dict) and any(mark in part for mark in MARKS) and len(whole) // 4 >= self.least:
                    seen = whole
                    found = max(found, len(whole) // 4 if whole in self.kept else 0)
        if seen and seen not in self.kept:
            written = len(seen) // 4 - found
        implicit = "model" in data and data["model"].startswith("gpt") and "prompt_cache_options" not in data
        if implicit and len(whole) // 4 >= self.least:
            written = len(whole) // 4
        await asyncio.sleep(0.01)
        self.kept |= {seen} if seen else set()
        return Reply(200, {}, json.dumps(self.reply(url, len(whole) // 4, found, written)).encode())

    def reply(self, url, read, found, written):
        if "converse" in url:
            usage = {"inputTokens": read - found - written, "outputTokens": 1}
            usage |= {"cacheReadInputTokens": found, "cacheWriteInputTokens": written}
            message = {"role": "assistant", "content": [{"text": "4"}]}
            return {"output": {"message": message}, "stopReason": "end_turn", "usage": usage}
        if "messages" in url:
            usage = {"input_tokens": read - found - written, "output_tokens": 1}
            usage |= {"cache_read_input_tokens": found, "cache_creation_input_tokens": written}
            return {"content": [{"type": "text", "text": "4"}], "stop_reason": "end_turn", "usage": usage}
        details = {"cached_tokens": found, "cache_write_tokens": written}
        usage = {"prompt_tokens": read, "completion_tokens": 1, "prompt_tokens_details": details}
        return {"choices": [{"message": {"content": "4"}, "finish_reason": "stop"}], "usage": usage}

    async def close(self):
        pass


def question(number: int, demos: str, system: str = "Be brief.") -> Generate:
    shown = [{"role": "user", "content": demos}, {"role": "assistant", "content": "4"}] if demos else []
    asked = {"role": "user", "content": f"What is 2 plus {number}?"}
    return Generate(Prompt([{"role": "system", "content": system}, *shown, asked]), Decoding(max_tokens=5))


def run(provider: Provider, requests, name="anthropic", model="claude-sonnet-5", **fields):
    credentials = {"api_key": "k", **({"region": "us-east-1"} if name == "aws" else {})}
    engine = ProviderEngine(model=model, provider=name, credentials=credentials, max_concurrency=16, **fields)
    engine._make_transport = lambda: provider
    found = dict(engine.generate(iter(requests)))
    assert all(each.failure is None for each in found.values()), [each.failure for each in found.values()]
    return total_usage([each.usage for each in found.values()])


GROUPS = [question(n, f"subject {n // 20}: " + "one and two are three; " * 400) for n in range(60)]
PROVIDERS = [
    ("anthropic", "claude-sonnet-5"),
    ("aws", "anthropic.claude-sonnet-4-20250514-v1:0"),
    ("open-ai", "gpt-5.6"),
]


@pytest.mark.parametrize("name, model", PROVIDERS)
def test_what_questions_share_is_written_once_and_then_read(name, model):
    marked, bare = Provider(), Provider()
    usage, without = run(marked, GROUPS, name, model), run(bare, GROUPS, name, model, prompt_cache="off")
    beginning = sum(len(message["content"]) for message in GROUPS[0].prompt.messages[:-1]) // 4
    assert usage.prompt_tokens == without.prompt_tokens
    assert usage.cache_write_tokens == pytest.approx(3 * beginning, rel=0.01), "the first of each group went alone"
    assert usage.cached_tokens == pytest.approx(57 * beginning, rel=0.01)
    assert PRICE.cost(usage) < 0.2 * PRICE.cost(without)
    for with_mark, other in zip(marked.bodies, bare.bodies, strict=True):
        assert [text for text in spoken(with_mark) if text] in [[t for t in spoken(each) if t] for each in bare.bodies]
        assert not any(mark in json.dumps(other) for mark in MARKS)


def spoken(body) -> list[str]:
    found = []
    for message in [{"content": body.get("system", "")}, *body["messages"]]:
        content = message["content"]
        found += [text_of(part) for part in ([content] if isinstance(content, str) else content)]
    return found


def test_a_system_prompt_that_all_share_is_kept():
    long = "Rule: answer with a number. " * 200
    usage = run(Provider(), [question(n, "", long) for n in range(20)])
    assert (usage.cache_write_tokens, usage.cached_tokens) == (1400, 19 * 1400)


@pytest.mark.parametrize("name, model", PROVIDERS)
def test_nothing_is_marked_where_nothing_is_shared_or_too_little(name, model):
    provider = Provider()
    apart = [question(n, f"{n} " + "one and two are three; " * 400) for n in range(20)]
    usage = run(provider, [*apart, *(question(n, "short") for n in range(20))], name, model)
    assert usage.cache_write_tokens == usage.cached_tokens == 0
    assert not any(mark in json.dumps(body) for body in provider.bodies for mark in MARKS)


def test_openai_writes_no_question_of_its_own_accord():
    apart = [question(n, f"{n} " + "one and two are three; " * 400) for n in range(20)]
    before = run(Provider(), apart, "open-ai", "gpt-5.6", prompt_cache="off")
    assert before.cache_write_tokens == before.prompt_tokens, "the provider's own habit, billed at 1.25"
    assert run(Provider(), apart, "open-ai", "gpt-5.6").cache_write_tokens == 0


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-5.5", "my-model"])
def test_models_that_cache_by_themselves_are_told_nothing(model):
    provider = Provider()
    run(provider, GROUPS[:3], "open-ai", model)
    assert not any("cache" in json.dumps(body) for body in provider.bodies)


@pytest.mark.parametrize(
    "name, model, refusal",
    [
        ("anthropic", "claude-sonnet-5", "messages.1.content.0.text.cache_control: Extra inputs are not permitted"),
        ("open-ai", "gpt-5.6", "Unknown parameter: 'prompt_cache_options'."),
        ("aws", PROVIDERS[1][1], "You invoked an unsupported model or your request did not allow prompt caching"),
    ],
)
def test_a_server_that_takes_no_marks_is_asked_without(name, model, refusal, said):
    provider = Provider(refusal=refusal)
    usage = run(provider, GROUPS[:6], name, model)
    assert usage.cached_tokens == 0
    assert not any(mark in json.dumps(body) for body in provider.bodies[-3:] for mark in MARKS)
    assert sum("takes no marks" in each for each in said) == 1


def test_the_cache_decides_no_answer():
    one = ProviderEngine(model="claude-sonnet-5", provider="anthropic")
    other = ProviderEngine(model="claude-sonnet-5", provider="anthropic", prompt_cache="off")
    assert one.identity == other.identity


def test_how_much_a_cache_will_hold_is_known_before():
    prompts = [each.prompt for each in GROUPS]
    engine = ProviderEngine(model="claude-sonnet-5", provider="anthropic")
    written, read = engine.cached(prompts)
    usage = run(Provider(), GROUPS)
    assert (written / 4, read / 4) == pytest.approx((usage.cache_write_tokens, usage.cached_tokens), rel=0.01)
    assert ProviderEngine(model="claude-sonnet-5", provider="anthropic", prompt_cache="off").cached(prompts) == (0, 0)
    assert isinstance(usage, Usage)


def test_nobody_waits_long_for_a_first_answer_that_takes_its_time(monkeypatch):
    monkeypatch.setattr("proctor.engines.http.prompt_caches._BEGUN_SECONDS", 0.05)

    class Slow(Provider):
        async def post(self, url, body, headers, timeout_seconds):
            self.under_way += 1
            if self.under_way == 1:
                await asyncio.sleep(1.0)
                assert self.under_way > 1, "the others went meanwhile"
            return await super().post(url, body, headers, timeout_seconds)

    run(Slow(), GROUPS[:8])
