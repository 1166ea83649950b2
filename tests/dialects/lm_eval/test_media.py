"""Pictures and sounds of documents, as prompts carry them."""

import base64
import io
import wave

import pytest

from proctor.dialects.lm_eval.media import media_of
from proctor.dialects.lm_eval.prompts import with_media
from proctor.errors import DataError
from proctor.ir import Media


def test_a_sound_as_datasets_decodes_it_is_a_file():
    [sound] = media_of("audio", {"array": [0.0, 0.5, -1.0, 2.0], "sampling_rate": 16000, "path": "gone.mp3"})
    kind, _, content = sound.source.partition(";base64,")
    assert kind == "data:audio/wav"
    with wave.open(io.BytesIO(base64.b64decode(content))) as file:
        assert (file.getframerate(), file.getnchannels(), file.getnframes()) == (16000, 1, 4)
        assert file.readframes(4) == b"".join(
            each.to_bytes(2, "little", signed=True) for each in (0, 16383, -32767, 32767)
        )


@pytest.mark.parametrize("array", [["loud"], [[0.0, 0.1]]])
def test_what_is_no_sound_is_refused(array):
    with pytest.raises(DataError, match="sound"):
        media_of("audio", {"array": array, "sampling_rate": 16000})


@pytest.mark.parametrize(
    "text, shown",
    [
        ("a <image> b", ["a ", "1", " b", "2"]), ("<image><image>", ["1", "2"]), ("a", ["1", "2", "a"]), ("<image> d <image> <image>q", ["<image> d ", "1", " ", "2", "q"]),
        ("<image>", ["1", "2"]),
    ],
)  # fmt: skip
def test_media_stand_at_the_last_places_before_a_text_without_any_or_at_the_end(text, shown):
    media = [Media("image", "1"), Media("image", "2")]
    messages = [
        {"role": "user", "content": "<image>"},
        {"role": "user", "content": text},
        {"role": "assistant", "content": "x"},
    ]
    parts = with_media(messages, media).messages
    assert [each.get("text") or each["image_url"]["url"] for each in parts[1]["content"]] == shown
    assert (parts[0]["content"], parts[2]["content"]) == ("<image>", "x")
