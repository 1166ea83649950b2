from proctor.ir import Choose, Exchange, Generate, Media, Pair, Prompt, Span, Turn, turn
from proctor.recipes.exam import Question
from proctor.web.prompt_view import explained_messages, request_view
from proctor.web.rendering import render

PICTURE = "data:image/png;base64,iVBORw0KGgo="


def chat(*parts):
    return Prompt([{"role": "user", "content": "?"}], lambda: (Turn("user", parts),))


def test_pictures_that_come_along_are_shown_and_no_others():
    parts = (
        Span("Look: ", "question"),
        Media("image", PICTURE, "question"),
        Media("image", "https://somewhere.example/spy.png", "question"),
        Media("image", "/etc/passwd", "question"),
        Media("audio", "data:audio/wav;base64,AA==", "question"),
    )
    (message,) = explained_messages(Generate(chat(*parts)))
    assert message["media"] == [PICTURE]
    assert [part["text"] for part in message["parts"]] == ["Look: ", "[image]", "[image]", "[image]", "[audio]"]


def test_choices_with_contexts_of_their_own_are_told_apart():
    pairs = tuple(Pair(Prompt(text), " end") for text in ("one", "two"))
    assert [each["role"] for each in explained_messages(Choose(pairs))] == ["choice 1", "choice 2"]


def test_a_request_says_what_its_page_shows():
    exchange = Exchange((turn("user", "?"),), answer="A", references=("A",), choices=("A", "B"), gold=0)
    prompt = Prompt("Which?")
    request = Choose((Pair(prompt, " A"), Pair(prompt, " B")))
    view = request_view(Question(0, {}, exchange, (request,)), request)
    assert (view["kind"], view["characters"], view["continuations"], view["gold"]) == ("choose", 6, (" A", " B"), 0)


def test_templates_escape_what_they_are_given():
    page = render("error.html", path="/", problems=[])
    assert "This cannot be shown" in page
