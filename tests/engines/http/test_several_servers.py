"""One model behind several servers: who gets what, and what becomes of the work of one that is away."""

import asyncio
from collections import Counter
from types import SimpleNamespace

import pytest

from proctor.engines.engine_registry import make_engine
from proctor.engines.http import several_servers
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.engines.http.several_servers import SeveralServers
from proctor.engines.http.transport import Reply, TransportError
from proctor.engines.model_args import parse_model_args
from proctor.errors import UsageError
from proctor.ir import Generate, Prompt
from proctor.testing import FaultServer

PLACES = [f"http://{name}:8000/v1" for name in "abc"]
WELL = Reply(200, {}, b"{}")


class Cluster:
    """A transport with servers that answer after a while, or that are away."""

    def __init__(self, seconds=0.001):
        self.got, self.seconds = [], seconds
        self.says = {}

    async def post(self, url, body, headers, timeout_seconds):
        place = url.removesuffix("/chat/completions")
        self.got.append((place, body))
        await asyncio.sleep(self.seconds)
        said = self.says.get(place, WELL)
        if isinstance(said, TransportError):
            raise said
        return said

    async def get(self, url, *_):
        return Reply(200, {}, url.encode())

    async def close(self):
        self.got = None


def sent(cluster, bodies, workers=12, servers=None):
    """Post bodies from some workers; returns the replies."""
    servers = servers or SeveralServers(cluster, lambda: PLACES, PLACES[0])
    left = list(enumerate(bodies))
    found = {}

    async def work():
        while left:
            number, body = left.pop(0)
            try:
                found[number] = await servers.post(f"{PLACES[0]}/chat/completions", body, {}, 9.0)
            except TransportError as error:
                found[number] = error

    async def all_workers():
        await asyncio.gather(*(work() for _ in range(workers)))

    asyncio.run(all_workers())
    return [found[number] for number in range(len(found))]


def test_all_servers_are_busy_with_questions_that_begin_alike():
    cluster = Cluster()
    sent(cluster, [b"x" * 2_000] * 900, workers=60)
    counts = Counter(place for place, _ in cluster.got)
    assert sorted(counts) == PLACES
    assert min(counts.values()) > 0.7 * 300


def test_exams_stay_where_their_beginning_is_known_when_there_is_room():
    cluster = Cluster()
    beginnings = [str(number).encode() * 1_100 for number in range(9)]
    sent(cluster, [beginnings[number % 9] + str(number).encode() for number in range(900)], workers=3)
    homes = {each: Counter() for each in beginnings}
    for place, body in cluster.got:
        homes[next(each for each in beginnings if body.startswith(each))][place] += 1
    assert all(max(each.values()) > 0.6 * 100 for each in homes.values())


@pytest.mark.parametrize("away", [TransportError("unreachable", "nobody there"), Reply(503, {}, b"loading")])
def test_the_work_of_a_server_that_is_away_goes_to_the_others(away, said):
    cluster = Cluster()
    cluster.says[PLACES[1]] = away
    replies = sent(cluster, [str(number).encode() for number in range(100)])
    assert [each[:3] for each in replies] == [WELL[:3]] * 100
    assert PLACES[1] not in {each.server for each in replies}
    assert sum(place == PLACES[1] for place, _ in cluster.got) <= 12  # those on their way when it was found out
    assert [line.partition(":8000/v1 is left out for 1 s")[0] for line in said] == ["http://b"]


def test_a_server_that_is_back_is_used_again(monkeypatch):
    monkeypatch.setattr(several_servers, "_FIRST_REST_SECONDS", 0.0)
    cluster = Cluster()
    servers = SeveralServers(cluster, lambda: PLACES, PLACES[0])
    cluster.says[PLACES[1]] = TransportError("connection", "reset")
    sent(cluster, [b"a", b"b", b"c"], servers=servers)
    del cluster.says[PLACES[1]]
    cluster.got.clear()
    sent(cluster, [str(number).encode() for number in range(90)], servers=servers)
    assert {place for place, _ in cluster.got} == set(PLACES)


def test_a_server_rests_twice_as_long_each_time_until_it_has_answered(monkeypatch, said):
    cluster, clock = Cluster(), [100.0]
    monkeypatch.setattr(several_servers, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    servers = SeveralServers(cluster, lambda: PLACES[:1], PLACES[0])
    for is_away in (True, True, True, False, True):
        cluster.says = {PLACES[0]: Reply(503, {}, b"loading")} if is_away else {}
        asyncio.run(servers.post(f"{PLACES[0]}/chat/completions", b"a", {}, 9.0))
        clock[0] += 60.0
    assert [line.partition("left out for ")[2].partition(":")[0] for line in said] == ["1 s", "2 s", "4 s", "1 s"]


@pytest.mark.parametrize("said", [TransportError("unreachable", "nobody"), Reply(503, {}, b"loading")])
def test_where_all_are_away_the_last_word_is_told(said):
    cluster = Cluster()
    cluster.says = dict.fromkeys(PLACES, said)
    assert sent(cluster, [b"a"]) == [said]
    assert sorted(place for place, _ in cluster.got) == PLACES


def test_a_time_out_is_not_sent_to_everybody():
    cluster = Cluster()
    cluster.says = dict.fromkeys(PLACES, TransportError("timeout", "too long"))
    sent(cluster, [b"a"])
    assert len(cluster.got) == 1


def test_an_engine_with_three_servers_divides_and_survives_one():
    with FaultServer(answer=lambda *_: "yes") as one, FaultServer(answer=lambda *_: "yes") as two:
        with FaultServer() as gone:
            away = gone.url
        engine = OpenAIEngine(model="m", base_url=f"{one.url},{away},{two.url}", max_concurrency=2)
        assert engine.most_at_once == 6
        answers = dict(engine.generate(Generate(Prompt(f"{number}?")) for number in range(60)))
        assert {each.texts for each in answers.values()} == {("yes",)}
        counts = [each.statistics()["requests"] for each in (one, two)]
    assert sum(counts) == 60
    assert min(counts) > 10


def test_how_several_servers_are_typed():
    args = parse_model_args("model=m,base_url=http://a:8000/v1,http://b:8000/v1,seed=3")
    assert args == {"model": "m", "base_url": "http://a:8000/v1,http://b:8000/v1", "seed": 3}
    engine = OpenAIEngine(**args)
    assert engine.server_addresses == ("http://a:8000/v1", "http://b:8000/v1")
    assert engine.identity == OpenAIEngine(model="m", base_url="http://c:1", seed=3).identity
    assert {each.target for each in engine.would_do() if each.kind == "net"} == {"a:8000", "b:8000"}


@pytest.mark.parametrize("typed", ["http://a,http://a/v1", "http://a,", "http://a,ftp://b", "http://a;http://b"])
def test_lists_that_are_none_are_refused(typed):
    with pytest.raises(UsageError):
        OpenAIEngine(model="m", base_url=typed)


def test_an_address_alone_is_no_assignment():
    with pytest.raises(UsageError, match="is not a key=value"):
        parse_model_args("http://a:8000/v1,model=m")


def test_several_servers_of_a_provider_are_refused_with_the_engine_that_takes_them():
    with pytest.raises(UsageError, match="the engine 'openai' alone takes"):
        make_engine("vllm-server", {"model": "m", "base_url": "http://a:1/v1,http://b:1/v1"})
