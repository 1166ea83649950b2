"""Media types by first bytes."""

import base64

import pytest

from proctor.data.media_types import data_url, media_type

KNOWN = [
    ("image", b"\xff\xd8\xff\xe0rest", "image/jpeg"),
    ("image", b"\x89PNG\r\n\x1a\nrest", "image/png"),
    ("image", b"GIF89a", "image/gif"),
    ("image", b"RIFF\x00\x01\x02\x03WEBPVP8 ", "image/webp"),
    ("image", b"BM\x00\x00", "image/bmp"),
    ("audio", b"RIFF\n\x01\x02\x03WAVEfmt ", "audio/wav"),
    ("audio", b"ID3\x04", "audio/mpeg"),
    ("audio", b"\xff\xfb\x90\x00", "audio/mpeg"),
    ("audio", b"fLaC", "audio/flac"),
    ("audio", b"OggS", "audio/ogg"),
    ("audio", b"\x00\x00\x00\x20ftypM4A ", "audio/mp4"),
    ("video", b"\x00\x00\x00\x20ftypisom", "video/mp4"),
    ("video", b"RIFF\x00\x01\x02\x03AVI LIST", "video/x-msvideo"),
    ("video", b"\x1aE\xdf\xa3", "video/webm"),
]


@pytest.mark.parametrize("kind, start, found", KNOWN)
def test_bytes_and_base_64_say_what_they_are(kind, start, found):
    content = start + bytes(100)
    text = base64.b64encode(content).decode()
    assert media_type(kind, content) == media_type(kind, text) == found
    assert data_url(kind, content, "x/wrong") == f"data:{found};base64,{text}"


@pytest.mark.parametrize("content", [b"", b"words", "", "no base 64!", "d29yZHM="])
def test_what_is_not_known_is_the_usual_or_what_is_said(content):
    assert media_type("image", content) == "image/jpeg"
    assert media_type("audio", content, "audio/x-own") == "audio/x-own"


def test_bytes_of_another_kind_do_not_count():
    assert media_type("video", b"\x89PNG") == "video/mp4"
