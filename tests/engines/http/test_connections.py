"""Which connections are used again."""

import asyncio
import socket

import pytest

from proctor.engines.http import connections
from proctor.engines.http.connections import _Caution


class Transport:
    def __init__(self, end):
        self._end = end

    def get_extra_info(self, name):
        return self._end


class Protocol:
    should_close = False
    _buffer = b""


class Connection:
    """A connection as a pool gives it out; ``give_back`` is what aiohttp does when an answer has been read."""

    def __init__(self, protocol, end):
        self.protocol, self.transport, self._callbacks = protocol, Transport(end), []

    def add_callback(self, callback):
        self._callbacks.append(callback)

    def give_back(self):
        for callback in self._callbacks:
            callback()


@pytest.fixture
def pair():
    ends = socket.socketpair()
    yield ends
    for end in ends:
        end.close()


@pytest.fixture
def waits(monkeypatch):
    waited = []

    async def sleep(seconds):
        waited.append(seconds)

    monkeypatch.setattr(connections.asyncio, "sleep", sleep)
    return waited


def uses(caution, protocol, end):
    connection = Connection(protocol, end)
    allowed = asyncio.run(caution.lets_use(connection))
    if allowed:
        connection.give_back()
    return allowed


def test_a_silent_connection_is_used_again_after_a_look(pair, waits):
    caution, protocol = _Caution(), Protocol()
    assert all(uses(caution, protocol, pair[0]) for _ in range(20))
    assert waits == [0.02] * 8


def test_one_on_which_something_lies_is_not_and_no_other_from_then_on(pair, waits):
    caution, first, second = _Caution(), Protocol(), Protocol()
    assert uses(caution, first, pair[0])
    assert uses(caution, second, pair[1])
    pair[1].send(b"more")
    assert not uses(caution, first, pair[0])
    assert not uses(caution, second, pair[1])
    assert uses(caution, Protocol(), pair[1])


def test_one_that_was_closed_is_no_reason_to_doubt_the_others(waits):
    (mine, theirs), (other, far) = socket.socketpair(), socket.socketpair()
    caution, closed, silent = _Caution(), Protocol(), Protocol()
    assert uses(caution, closed, mine)
    assert uses(caution, silent, other)
    theirs.close()
    assert not uses(caution, closed, mine)
    assert uses(caution, silent, other)
    for end in (mine, other, far):
        end.close()


def test_a_second_answer_that_came_with_the_first_is_noticed(pair, waits):
    caution, told, silent = _Caution(), Protocol(), Protocol()
    assert uses(caution, silent, pair[0])
    told._buffer = b"HTTP/1.1 200 OK"
    assert uses(caution, told, pair[1])
    assert not uses(caution, silent, pair[0])
