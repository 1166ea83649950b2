"""Posts without aiohttp's session: the same bytes, the same replies and the same failures as through it."""

import asyncio
import gzip

import pytest

from proctor.engines.http import short_posts
from proctor.engines.http.transport import AiohttpTransport, TransportError

HEADERS = {"Content-Type": "application/json", "Authorization": "Bearer x"}
FINE = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
PACKED = gzip.compress(b"packed" * 50)

REPLIES = {
    "whole": FINE,
    "no length": b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
    "broken chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n",
    "too short": b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n{}",
    "packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(PACKED), PACKED),
    "packed and cut": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 30\r\n\r\n" + PACKED[:30],
    "packed as nobody asked": b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}",
    "not yet": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + FINE,
    "refused": b"HTTP/1.1 429 Too Many\r\nRetry-After: 3\r\nContent-Length: 4\r\n\r\nslow",
    "elsewhere": b"HTTP/1.1 307 There\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n",
    "empty": b"HTTP/1.1 204 No Content\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{} ",
    "length below zero": b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
    "long header": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 20_000 + b"\r\nContent-Length: 2\r\n\r\n{}",
    "no HTTP": b"220 mail.example ESMTP\r\n",
    "nothing": b"",
    "old": b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    "closing": b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
}


class Server:
    """Answers the first post well, every other one with the bytes that it was given, and keeps what it was sent."""

    def __init__(self, reply):
        self.reply, self.seen = reply, []

    async def answer(self, reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
            self.seen.append((head, await reader.readexactly(length)))
            reply = FINE if len(self.seen) == 1 else self.reply
            writer.write(reply)
            await writer.drain()
            if reply != FINE:
                break
        writer.close()

    async def serve(self, reader, writer):
        try:
            await self.answer(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()


async def _ask(reply, headers=HEADERS, bodies=(b"first", b"second"), seconds=5):
    """Return what the server saw, and what comes of each post."""
    server = Server(reply)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1/chat?x=1%202"
    transport, outcomes = AiohttpTransport(2, 5), []
    for body in bodies:
        try:
            got = await transport.post(url, body, headers, seconds)
            outcomes.append((got.status, dict(got.headers), got.body))
        except TransportError as error:
            outcomes.append((error.kind, str(error).replace(url, "URL")))
    await transport.close()
    listening.close()
    return server.seen, outcomes


def ask(*arguments, **others):
    return asyncio.run(_ask(*arguments, **others))


@pytest.fixture
def made(monkeypatch):
    """The posts that were made without the session."""
    made = []

    class Kept(short_posts.ShortPost):
        def __init__(self, *arguments):
            made.append(arguments)
            super().__init__(*arguments)

    monkeypatch.setattr(short_posts, "ShortPost", Kept)
    return made


@pytest.mark.parametrize("name", REPLIES)
def test_replies_and_failures_are_those_of_the_session(name, made, monkeypatch):
    _, short = ask(REPLIES[name])
    assert len(made) == 1
    monkeypatch.setattr(short_posts, "_KNOWN_VERSIONS", ((0, 0), (0, 0)))
    _, long = ask(REPLIES[name])
    assert len(made) == 1
    assert short == long
    assert short[0] == (200, {"Content-Length": "2"}, b"{}")


@pytest.mark.parametrize("more", [{}, {"Accept": "text/event-stream"}, {"user-agent": "mine", "X-Ä": "ü"}])
def test_requests_are_those_of_the_session(more, made):
    seen, _ = ask(FINE, headers=HEADERS | more, bodies=[b'{"a": 1}', b'{"b": 2}', b""])
    assert len(made) == 2
    first, *others = [(head.split(b"\r\n")[0], sorted(head.lower().split(b"\r\n")[1:])) for head, _ in seen]
    assert first == others[0]
    assert [body for _, body in seen] == [b'{"a": 1}', b'{"b": 2}', b""]
    assert [head.replace(b"Content-Length: 0", b"Content-Length: 8") for head, _ in seen[2:]] == [seen[1][0]]


@pytest.mark.parametrize(
    "headers, bodies",
    [
        (HEADERS | {"Connection": "close"}, [b"a", b"b"]),
        (HEADERS | {"Expect": "100-continue"}, [b"a", b"b"]),
        (HEADERS, [b"a", b"b" * (1 << 20)]),
        (HEADERS | {"X": "a\r\nEvil: b"}, [b"a", b"b"]),
    ],
)
def test_what_is_not_simple_is_left_to_the_session(headers, bodies, made):
    ask(FINE, headers=headers, bodies=bodies, seconds=1)
    assert not made


def test_header_that_holds_a_second_one_is_refused_every_time():
    seen, outcomes = ask(FINE, headers=HEADERS | {"X": "a\r\nEvil: b"}, bodies=[b"a", b"b", b"c"])
    assert not seen
    assert {kind for kind, _ in outcomes} == {"protocol"}


def test_other_headers_of_the_same_address_are_not_mixed(made):
    async def both():
        server = Server(FINE)
        listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        transport = AiohttpTransport(2, 5)
        for headers in [HEADERS | {"Accept": "text/event-stream"}, HEADERS, HEADERS | {"X": "1"}]:
            await transport.post(url, b"{}", headers, 5)
        await transport.close()
        listening.close()
        return [head for head, _ in server.seen]

    streamed, plain, marked = asyncio.run(both())
    assert len(made) == 2
    assert b"event-stream" in streamed
    assert b"event-stream" not in plain
    assert b"\r\nAccept: */*\r\n" in plain
    assert b"\r\nX: 1\r\n" in marked
    assert b"\r\nX:" not in plain


def test_silent_server_times_out_and_its_connection_is_not_used_again(made):
    async def silent():
        held = asyncio.Event()

        async def serve(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(FINE)
            await held.wait()
            writer.close()

        listening = await asyncio.start_server(serve, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1"
        transport = AiohttpTransport(1, 5)
        await transport.post(url, b"", HEADERS, 5)
        with pytest.raises(TransportError, match="no answer within") as error:
            await transport.post(url, b"", HEADERS, 0.2)
        answered = await transport.post(url, b"", HEADERS, 5)  # on a connection of its own, of which there may be one
        held.set()
        await transport.close()
        listening.close()
        return error.value.kind, answered.status

    assert asyncio.run(silent()) == ("timeout", 200)
    assert len(made) == 2
