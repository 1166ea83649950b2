from io import StringIO

from hypothesis import given
from hypothesis import strategies as st

from proctor.cli.prompts import RequestPrinter, margin_lines, words_of
from proctor.ir import Choose, Exchange, Media, Pair, Prompt, Span, turn
from proctor.recipes.exam import Question


def printed(item, request):
    stream = StringIO()
    RequestPrinter(stream).print("exam", item, request)
    return stream.getvalue()


def item_of(request, **more):
    return Question(0, {}, Exchange(question=(turn("user", "?"),), **more), (request,))


def test_choices_with_contexts_of_their_own_are_shown_each():
    request = Choose((Pair(Prompt("The cat"), " sat"), Pair(Prompt("The dog"), " sat")))
    out = printed(item_of(request, gold=1), request)
    assert out.index("The cat") < out.index("The dog")
    assert '   1  " sat"\n' in out
    assert '▶  2  " sat"  ← gold' in out


def test_long_lines_are_left_to_the_terminal():
    request = Choose((Pair(Prompt("word " * 100), "x"),))
    assert "word " * 100 in printed(item_of(request), request)


def test_escape_sequences_and_markup_are_shown_not_obeyed():
    request = Choose((Pair(Prompt("\x1b[2J[red]x[/red]\u202e"), "\x1b]0;owned\x07"),))
    out = printed(item_of(request), request)
    assert "\x1b" not in out
    assert "␛[2J[red]x[/red]\\u202e" in out


def test_tabulators_are_what_the_model_gets():
    request = Choose((Pair(Prompt("a\tb"), "x"),))
    assert "a\tb" in printed(item_of(request), request)


def test_pictures_are_named():
    assert words_of(Media("image", "cat.png")) == "[image: cat.png]"
    long = words_of(Media("image", "data:image/png;base64," + "A" * 10_000))
    assert len(long) < 80
    assert long.startswith("[image: data:image/png;base64,AAA")


@given(st.lists(st.tuples(st.text(alphabet="ab \n"), st.sampled_from(["question", "demo[0].answer", "layout"]))))
def test_the_margin_loses_no_text(parts):
    spans = [Span(text, origin) for text, origin in parts]
    whole, first = "", True
    for line in margin_lines(spans):
        mark = min((line.index(mark) for mark in "│┊" if mark in line), default=-1)
        starts_line = line[mark] == "│"
        whole += ("\n" if starts_line and not first else "") + line[mark + 2 :]
        first = False
    assert whole == "".join(span.text for span in spans)
