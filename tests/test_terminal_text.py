import json
import unicodedata

import pytest

from proctor.terminal_text import printable, printable_json

ATTACKS = [
    "\x1b[31mred",
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil\x1b\\link",
    "\x1bP+q\x1b\\",
    "\x1b[6n",
    "\x9b31m",
    "\x9d0;title\x9c",
    "over\rwritten",
    "back\b\b\b\bspace",
    "\x07",
    "\x0b\x0c",
    "\x7f",
    "\x85next",
    "abc\u202etxt.exe",
    "\u2066a\u2067b\u2068c\u2069",
    "\u202a\u202b\u202c\u202d",
    "\u200e\u200f\u061c",
    "zero\u200bwidth",
    "word\u2060joiner",
    "a\u200cb\u200dc",
    "soft\u00adhyphen",
    "\ufeffmark",
    "line\u2028para\u2029graph",
    "tag\U000e0041\U000e007f",
    "half\ud800",
    "\ufff9a\ufffab\ufffb",
    "vowel\u180eseparator",
    "\x00\x01\x02\x1c\x1d\x1e\x1f",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_it_is_shown_and_not_obeyed(text):
    shown = printable(text)
    assert shown != text
    assert not any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") for each in shown)
    assert printable(shown) == shown


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines\tof it", "Ünïcödé 漢字 ไทย العربية", "می‌خواهم", "👨‍👩‍👧", "क्‍ष", "a\u00a0b"]
)
def test_honest_texts_stay(text):
    assert printable(text) == text


def test_every_control_and_direction_mark():
    marks = [
        *range(9),
        *range(11, 32),
        *range(0x7F, 0xA0),
        0x200E,
        0x200F,
        0x061C,
        *range(0x202A, 0x202F),
        *range(0x2066, 0x206A),
    ]
    assert not [hex(code) for code in marks if chr(code) in printable(f"a{chr(code)}b")]


@pytest.mark.parametrize("text", ATTACKS)
def test_json_means_the_same(text):
    written = json.dumps({"a": text, text: 1}, ensure_ascii=False)
    safe = printable_json(written)
    assert json.loads(safe) == json.loads(written)
    assert printable(safe) == safe
