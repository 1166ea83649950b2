"""Functions of the user's as models: ``--model app.py:answer``."""

import json

import pytest
from tests_commands import proctor

from proctor.engines.engine_registry import make_engine
from proctor.errors import ProctorError, TrustError, UsageError
from proctor.ir import Decoding, Generate, Prompt
from proctor.settings import settings

APP = """
import asyncio
import threading
from beside import CITIES
from proctor.ir import Response

here, most = 0, 0

def answer(prompt):
    return CITIES[prompt.split()[-1].strip("?")]

async def slow(messages, max_tokens, tools=None, other=3):
    global here, most
    here += 1
    most = max(most, here)
    await asyncio.sleep(0.01)
    here -= 1
    return f"{messages[-1]['content']} {max_tokens} {len(tools)} {other} {most}"

def threads(prompt):
    return threading.current_thread().name

def number(prompt):
    return 3

def whole(prompt):
    return Response(texts=("whole",), finish_reasons=("length",))

def planet(prompt, planet):
    return ""

def nothing(seed):
    return ""

def many(*prompts):
    return ""
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "app.py").write_text(APP)
    (tmp_path / "one.py").write_text('def judge(prompt):\n    return \'{"pass": true, "reason": "so"}\'\n')
    (tmp_path / "beside.py").write_text("CITIES = {'Peru': 'Lima'}\n")
    (tmp_path / "q.csv").write_text("country,answer\nPeru,Lima\nChile,Santiago\n")
    return tmp_path


def engine(name, **args):
    with settings.context(trust_code=True):
        return make_engine(name, args)


def said(made, *texts, **decoding):
    asked = [Generate(Prompt(text), Decoding(**decoding)) for text in texts]
    return [response for _, response in sorted(made.generate(asked), key=lambda each: each[0])]


def test_a_function_answers_and_what_it_raises_is_a_failure():
    found = said(engine("app.py:answer"), "Capital of Peru?", "Capital of Mali?")
    assert (found[0].texts, found[0].finish_reasons, found[0].failure) == (("Lima",), ("stop",), None)
    assert "KeyError: 'Mali'" in found[1].failure.message
    assert found[0].timing.started > 0


def test_an_asynchronous_function_takes_messages_and_several_are_answered_at_once():
    made = engine("app.py:slow[max_concurrency=4]")
    texts = [each.text for each in said(made, *map(str, range(8)), max_tokens=7, extra={"tools": [1, 2]})]
    assert [text.rpartition(" ")[0] for text in texts] == [f"{number} 7 2 3" for number in range(8)]
    assert max(int(text.rpartition(" ")[2]) for text in texts) == 4
    assert (made.only_chats, made.takes_chats) == (True, True)
    assert (engine("app.py:answer").only_chats, engine("app.py:answer").takes_chats) == (False, False)


def test_a_response_says_everything_and_what_is_no_text_is_a_failure():
    (whole,), (number,) = said(engine("app.py:whole"), "x"), said(engine("app.py:number"), "x")
    assert (whole.texts, whole.finish_reasons) == (("whole",), ("length",))
    assert (number.failure.message, number.failure.retryable) == ("app:number gives 3, and no text", False)


@pytest.mark.parametrize(
    "name, why",
    [
        ("app.py", "has 8 models"),
        ("app.py:anser", "did you mean 'answer'"),
        ("app.py:planet", "takes 'planet'"),
        ("app.py:nothing", "neither 'prompt' nor 'messages'"),
        ("app.py:many", "given by name"),
        ("app.py:answer[max_concurrency=0]", "max_concurrency is 0"),
        ("none.py:answer", "there is no file none.py"),
        ("beside.py", "has no models"),
        ("broken.py", "ZeroDivisionError"),
    ],
)
def test_what_is_no_model_is_refused(folder, name, why):
    (folder / "broken.py").write_text("1 / 0")
    with pytest.raises(ProctorError, match=why):
        engine(name)
    with pytest.raises(TrustError, match="say --trust-code"):
        make_engine("one.py")


@pytest.mark.parametrize("name", ["app:answer", "app.answer"])
def test_a_function_of_a_module_is_named_as_one_of_a_file(folder, name):
    with pytest.raises(UsageError, match=r"--model app\.py:answer"):
        make_engine(name)


def test_what_a_function_prints_is_not_in_the_json_of_its_scores(tmp_path):
    (tmp_path / "loud.py").write_text("def answer(prompt):\n    print('called')\n    return 'a'\n")
    (tmp_path / "q.csv").write_text("question,answer\nq,a\n")
    given = ("run", tmp_path / "q.csv", "-m", f"{tmp_path}/loud.py:answer", "--trust-code", "--json")
    done = proctor(*given, "-o", tmp_path / "out")
    assert json.loads(done.stdout)["q"]["n"] == 1
    assert "called" in done.stderr


def test_answers_are_kept_by_the_code_that_gave_them(folder):
    first = engine("app.py:answer").identity
    assert engine("app.py:answer", max_concurrency=3).identity == first
    assert engine(str(folder / "app.py") + ":answer").identity == first
    others = {engine("app.py:whole").identity, engine("app.py:answer", version="2").identity}
    (folder / "beside.py").write_text("CITIES = {'Peru': 'Cusco'}\n")
    others.add(engine("app.py:answer").identity)
    assert len(others) == 3
    assert first not in others


def test_functions_that_one_function_makes_are_told_apart(folder):
    made = "def made(word):\n    def answer(prompt):\n        return word\n    return answer\nyes, no = made('yes'), made('no')\n"
    (folder / "two.py").write_text(made)
    yes, no = engine("two.py:yes"), engine("two.py:no")
    assert (yes.label, no.label, yes.identity == no.identity) == ("two:yes", "two:no", False)
    assert [each.texts for each in (*said(yes, "?"), *said(no, "?"))] == [("yes",), ("no",)]


def test_objects_that_can_be_called_answer_and_so_do_functions_of_other_files(folder):
    (folder / "calls.py").write_text(
        "from app import answer\n"
        "class Chain:\n    async def __call__(self, prompt):\n        return prompt * 2\nchain = Chain()\n"
    )
    assert said(engine("calls.py"), "ab")[0].texts == ("abab",)
    assert said(engine("calls.py:answer"), "Peru?")[0].texts == ("Lima",)


def test_what_it_imports_from_the_working_folder_counts(folder):
    for name in ("apps/app.py", "words/__init__.py", "more/__init__.py"):
        (folder / name).parent.mkdir()
        (folder / name).write_text("")
    (folder / "apps/app.py").write_text("import more\nfrom words import WORD\ndef answer(prompt):\n    return WORD\n")
    found = set()
    for word in ("yes", "no"):
        (folder / "words/__init__.py").write_text(f"WORD = {word!r}\n")
        found.add(engine("apps/app.py").identity)
    assert len(found) == 2


def test_pictures_are_not_dropped_where_a_text_is_taken():
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    asked = Prompt([{"role": "user", "content": [{"type": "text", "text": "Peru?"}, picture]}])
    assert "pictures or sounds" in said(engine("app.py:answer"), asked.payload)[0].failure.message


def test_keys_in_what_it_raises_or_says_are_not_filed(folder, monkeypatch):
    monkeypatch.setenv("SEARCH_API_KEY", "sk-1234567890-of-a-search")
    (folder / "leaky.py").write_text(
        "import os\nKEY = os.environ['SEARCH_API_KEY']\n"
        "def raises(prompt):\n    raise ValueError(KEY)\ndef says(prompt):\n    return KEY\ndef gives(prompt):\n    return [KEY]\n"
    )
    for name in ("raises", "says", "gives"):
        assert "sk-1234567890" not in repr(said(engine(f"leaky.py:{name}"), "x")), name
        assert "[secret]" in repr(said(engine(f"leaky.py:{name}"), "x")), name


def test_a_file_that_makes_things_first_is_no_config_of_models(folder):
    made = "import json\nDECODER = json.JSONDecoder()\n"
    (folder / "top.py").write_text(f"{made}def answer(prompt):\n    return 'Lima'\n")
    done = proctor("run", "q.csv", "--prompt", "{country}?", "-m", "top.py", "--trust-code", "-o", "t")
    (found,) = json.loads((folder / "t" / "results.json").read_text())["results"].values()
    assert found["score"] == 0.5, done.stderr


def test_a_program_that_ends_itself_is_a_failure_and_no_end_of_the_run(folder):
    (folder / "ends.py").write_text("import sys\ndef answer(prompt):\n    sys.exit(3)\n")
    assert "SystemExit: 3" in said(engine("ends.py"), "x")[0].failure.message
    (folder / "ends.py").write_text("import sys\nsys.exit(3)\n")
    with pytest.raises(ProctorError, match="SystemExit: 3"):
        engine("ends.py:answer")


def test_a_run_asks_it_and_a_judge_may_be_one_too(folder):
    done = proctor(
        "run",
        "q.csv",
        "--prompt",
        "Capital of {country}?",
        "-m",
        "app.py:answer",
        "--trust-code",
        "-o",
        "r",
        "--allow-failures",
    )
    (found,) = json.loads((folder / "r" / "results.json").read_text())["results"].values()
    assert (found["score"], found["failures"]) == (1.0, 1), done.stderr
    judged = proctor(
        "run",
        "q.csv",
        "--prompt",
        "{country}?",
        "-m",
        "dummy",
        "--metric",
        "judge",
        "--judge",
        "one.py",
        "--trust-code",
        "-o",
        "j",
    )
    (found,) = json.loads((folder / "j" / "results.json").read_text())["results"].values()
    assert found["score"] == 1.0, judged.stderr
    refused = proctor("run", "q.csv", "--prompt", "{country}?", "-m", "one.py")
    assert (refused.returncode, "say --trust-code to run it" in refused.stderr) == (2, True)


@pytest.mark.slow
def test_workers_of_ray_trust_what_the_user_trusts(folder):
    pytest.importorskip("ray")
    options = (
        "--model",
        "one.py",
        "--prompt",
        "{country}?",
        "--executor",
        "ray",
        "--workers",
        "1",
        "--metric",
        "is-json",
    )
    done = proctor("run", "q.csv", *options, "--trust-code", "-o", "r")
    (found,) = json.loads((folder / "r" / "results.json").read_text())["results"].values()
    assert found["score"] == 1.0, done.stderr
