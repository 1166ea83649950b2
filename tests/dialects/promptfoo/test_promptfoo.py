"""Configs of promptfoo: prompts, tests and models of one file, and what is refused of it by name."""

import json

import pytest
import yaml
from tests_commands import proctor

from proctor import logs
from proctor.dialects.promptfoo.assertions import ConfigAssertions
from proctor.dialects.promptfoo.providers import models_in
from proctor.dialects.resolve import resolve_tasks
from proctor.engines import OpenAIEngine
from proctor.engines.decoding import with_defaults
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.ir import Response, Timing, Usage
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

CONFIG = {
    "description": "Capitals",
    "prompts": ["Capital of {{country}}?", "file://words.txt", {"label": "in a chat", "raw": "file://chat.json"}],
    "providers": ["dummy", {"id": "scripted", "label": "knows", "config": {}}],
    "defaultTest": {"vars": {"lang": "en"}, "assert": [{"type": "not-icontains", "value": "sorry"}]},
    "tests": [
        {"vars": {"country": ["France", "Peru"]}, "assert": [{"type": "contains", "value": "of {{country}}"}]},
        {"vars": {"country": "{{lang}}gland"}, "threshold": 0.5, "assert": [{"type": "equals", "value": "x"}]},
        "file://more.csv",
    ],
}
CHAT = [{"role": "system", "content": "Say it in {{lang}}."}, {"role": "user", "content": "{{country}}"}]


@pytest.fixture
def write(tmp_path):
    def written(**changes):
        (tmp_path / "words.txt").write_text("One word: capital of {{ country | upper }}\n---\nShort: {{country}}\n")
        (tmp_path / "chat.json").write_text(json.dumps(CHAT))
        (tmp_path / "more.csv").write_text(
            "country,__expected1,__expected2,__threshold\nChile,icontains: chile,x,0.6\n"
        )
        path = tmp_path / "promptfooconfig.yaml"
        path.write_text(yaml.safe_dump({**CONFIG, "prompts": CONFIG["prompts"], **changes}, sort_keys=False))
        return str(path)

    return written


def asked(exam):
    return [each.requests[0].prompt.messages for each in exam.questions()]


def test_each_prompt_is_an_exam_about_the_same_rows(write, tmp_path):
    exams = resolve_tasks([write()])
    assert [each.name for each in exams] == [
        f"{tmp_path.name}-{name}" for name in ("1", "words-1", "words-2", "in-a-chat")
    ]
    assert [each[0]["content"] for each in asked(exams[0])] == [
        f"Capital of {name}?" for name in ("France", "Peru", "england", "Chile")
    ]
    assert asked(exams[1])[1][0]["content"] == "One word: capital of PERU"
    assert asked(exams[3])[0] == (
        {"role": "system", "content": "Say it in en."},
        {"role": "user", "content": "France"},
    )
    rows = {json.dumps([list(map(str, each.rows.open(each.selection).rows))]) for each in exams}
    assert len(rows) == 1


def test_assertions_are_weighed_and_told(write, tmp_path):
    exam = resolve_tasks([f"{write()}::1"])[0]
    engine = ScriptedEngine(function=lambda prompt: prompt.text)
    result = run_exams([exam], engine, log=tmp_path / "log.db")
    grade = result.grades[exam.name]
    assert list(grade.instance_scores["passed"]) == [1.0, 1.0, 1.0, 1.0]  # the last: two of three, from 0.6 on
    assert [each["passed"] for each in grade.instance_scores["assertions"][2]] == [True, False]
    assert grade.instance_scores["assertions"][0][1]["assertion"] == "contains: of France"


@pytest.mark.parametrize(
    "text, variables, message",
    [
        ("{{a}} and {{ a | dump }}", {"a": 'x "y"'}, 'x "y" and "x \\"y\\""'),
        (
            "{{flag}} {{ n }} {{list}}",
            {"flag": True, "n": 3, "list": [[1, "a"], None, {"b": 1}]},
            "true 3 1,a,,[object Object]",
        ),
        ("{{o}} {{ o.k }} {{ o.k[0] }}", {"o": {"k": [[1.0, False], "x"]}}, "[object Object] 1,false,x 1,false"),
        (
            "{{o.a}} {{o.b}} {{o.c}} {{o.d}} {{o.e}}",
            {"o": {"a": 1e21, "b": 1e-7, "c": -0.0, "d": 12345678901234567890, "e": 0.1}},
            "1e+21 1e-7 0 12345678901234567000 0.1",
        ),
        (
            "{{ o.k | string }} {{ o.k | reverse }} {{ o.k | dump(1) }}",
            {"o": {"k": [1, "a"]}},
            '1,a a,1 [\n 1,\n "a"\n]',
        ),
        (
            "{{ a | round }} {{ b | round }} {{ c | round(1) }} {{ a | round(0, 'floor') }}",
            {"a": 2.5, "b": -2.5, "c": 1.25},
            "3 -2 1.3 2",
        ),
        ("{{ s.length }}{% if o.k.length > 1 %} {{ o.k.length }}{% endif %}", {"s": "abc", "o": {"k": [1, 2]}}, "3 2"),
        ("{{a | dump}} {{b}}|", {"a": {"k": [1.0, None]}, "b": "a line\n"}, '{"k":[1,null]} a line|'),
        ("{% if flag %}yes{% else %}no{% endif %}", {"flag": False}, "no"),
        ("{% for each in list %}{{ each }};{% endfor %}", {"list": [["p", "q"], 1]}, "p,q;1;"),
        ("- role: user\n  content: '{{a}}'", {"a": "hi"}, "hi"),
        ("no variable", {"a": "hi"}, "no variable"),
    ],
)
def test_variables_are_filled_in_as_there(write, text, variables, message):
    path = write(prompts=[text], tests=[{"vars": variables, "assert": [{"type": "is-json"}]}])
    (exam,) = resolve_tasks([path])
    assert asked(exam)[0][0]["content"] == message


def test_scenarios_cross_their_data_with_their_tests(write):
    scenario = {
        "config": [{"vars": {"lang": "en"}}, {"vars": {"lang": "fr"}}],
        "tests": [{"vars": {"country": "Mali"}, "assert": [{"type": "contains", "value": "{{lang}}"}]}],
    }
    (exam,) = resolve_tasks([write(prompts=["{{country}} {{lang}}"], tests=[], scenarios=[scenario])])
    assert [each[0]["content"] for each in asked(exam)] == ["Mali en", "Mali fr"]


def test_a_table_of_tests_says_all_that_a_test_does(write, tmp_path):
    header = "country,__expected,__expected2,__prefix,__description,__metadata:area,__threshold\n"
    (tmp_path / "t.csv").write_text(f"{header}Oman,contains: Mus,,Say: ,a test,Gulf,0.5\n")
    (exam,) = resolve_tasks([write(prompts=["{{country}}"], defaultTest={}, tests="t.csv")])
    (question,) = exam.questions()
    assert question.requests[0].prompt.text == "Say: Oman"
    assert question.instance == {
        "country": "Oman", "__expected": ["contains: Mus"], "__prefix": "Say: ", "__description": "a test",
        "__metadata": {"area": "Gulf"}, "__threshold": "0.5",
    }  # fmt: skip
    (tmp_path / "t.csv").write_text("country,__expected_not\nOman,x\n")
    with pytest.raises(ProctorError, match="the column '__expected_not' is not obeyed"):
        resolve_tasks([write(prompts=["{{country}}"], tests="t.csv")])


@pytest.mark.parametrize("ending, dump", [("yaml", yaml.safe_dump), ("json", json.dumps)])
def test_tests_stand_in_files(write, tmp_path, ending, dump):
    tests = [{"vars": {"country": "Oman"}, "assert": [{"type": "equals", "value": "file://right.txt"}]}]
    (tmp_path / f"tests.{ending}").write_text(dump(tests))
    (tmp_path / "right.txt").write_text("Muscat")
    (exam,) = resolve_tasks([write(prompts=["{{country}}"], tests=f"file://tests.{ending}")])
    (question,) = exam.questions()
    assert question.instance["__expected"][1]["value"] == "Muscat"


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"prompts": ["{{cuontry}}"]}, "the prompt takes 'cuontry', which no test gives"),
        ({"prompts": ["file://gone.txt"]}, "there is no file gone.txt"),
        ({"prompts": ["file://p.py"]}, "'file://p.py' is a program"),
        ({"prompts": []}, "the config has no prompt"),
        ({"prompts": ["{% if %}"]}, "template"),
        ({"tests": [{"vars": {}, "asserts": ["x"]}]}, "'asserts' is not obeyed"),
        ({"tests": [{"assert": [{"type": "javascript", "value": "1"}]}]}, "'javascript' is code"),
        ({"tests": [{"assert": [{"type": "python", "value": "1"}]}]}, "an assertion 'python' is code"),
        ({"tests": [{"assert": [{"type": "python", "value": "file://gone.py"}]}]}, "there is no file gone.py"),
        ({"tests": [{"assert": [{"type": "latency"}]}]}, "'latency' needs a threshold in milliseconds"),
        ({"tests": [{"assert": [{"type": "contains", "value": "a", "config": {"x": 1}}]}]}, "is for code"),
        ({"tests": [{"assert": [{"$ref": "#/templates/gone"}]}]}, "'#/templates/gone' cannot be followed"),
        ({"a": {"$ref": "#/a"}}, "it leads to itself"),
        ({"commandLineOptions": {"filterFirstN": 3}}, "--limit and --samples choose"),
        ({"tests": [{"assert": [{"type": "contains", "value": "a", "transform": "x"}]}]}, "a transform is code"),
        ({"tests": [{"options": {"transform": "output.trim()"}}]}, "a transform is code"),
        ({"tests": [{"transform": "output.trim()"}]}, "it stands in 'options' of a test"),
        ({"tests": [{"options": {"transform": ["x"]}}]}, "a transform is a text"),
        ({"prompts": [{"raw": "Hi", "config": {"response_format": {}}}]}, "'response_format' is not obeyed"),
        ({"prompts": [{"raw": "Hi", "config": {"max_tokens": "many"}}]}, "config cannot be read"),
        ({"tests": [{"provider": "openai:x"}]}, "such tests are a config of their own"),
        ({"tests": ["file://gen.py"]}, "is a program"),
        ({"tests": ["https://docs.google.com/x"]}, "are not fetched"),
        ({"tests": [{"threshold": "high", "vars": {"country": "x"}}]}, "a threshold is a number"),
        ({"tests": [{"assert": [{"type": "assert-set", "assert": []}]}]}, "a set of assertions lists assertions"),
        ({"extensions": ["file://x.js"]}, "'extensions' is not obeyed"),
        ({"evaluateOptions": {"repeat": 3}}, "'repeat' is not obeyed"),
        ({"defaultTest": ["x"]}, "this is a mapping with"),
        (
            {"tests": [{"vars": {key: [*"abcdefghi" * 11] for key in "abcdef"}}]},
            "the variables make 941,480,149,401 tests",
        ),
        ({"tests": ["../../*.yaml"]}, "nobody allowed that"),
        ({"tests": [{"assert": [{"type": "llm-rubric", "value": "nice"}]}]}, "nobody says which model that is"),
    ],
)
def test_what_cannot_be_obeyed_is_refused_by_name(write, changes, told):
    with pytest.raises(ProctorError) as raised:
        resolve_tasks([write(**{"prompts": ["{{lang}}"], **changes})])
    assert told in str(raised.value)


@pytest.mark.parametrize(
    "provider, model, arguments",
    [
        ("openai:gpt-4.1", "openai/gpt-4.1", {}),
        ("openai:chat:gpt-4.1", "openai/gpt-4.1", {}),
        ("anthropic:messages:claude-x", "anthropic/claude-x", {}),
        ("ollama:chat:llama3:8b", "ollama/llama3:8b", {}),
        ("openrouter:meta/llama", "openrouter/meta/llama", {}),
        (
            {"id": "openai:m", "config": {"apiBaseUrl": "http://x/v1", "temperature": 0.3}},
            "openai/m",
            {"base_url": "http://x/v1", "temperature": 0.3},
        ),
        ({"openai:m": {"config": {"max_tokens": 5}}}, "openai/m", {"max_tokens": 5}),
        ("dummy", "dummy", {}),
        ("google:gemini-2.5-pro", "gemini/gemini-2.5-pro", {}),
        ("ollama:completion:llama3", "ollama/llama3", {}),
    ],
)
def test_a_provider_is_an_engine(write, tmp_path, provider, model, arguments):
    write(providers=[provider])
    (found,) = models_in(tmp_path / "promptfooconfig.yaml")
    assert (found.model, found.arguments) == (model, arguments)


def test_providers_of_files_of_data_sit_it_and_an_id_under_a_provider_is_its_name(write, tmp_path):
    (tmp_path / "one.yaml").write_text('{"id": "openai:chat:small", "config": {"temperature": 0.5}}')
    (tmp_path / "two.json").write_text('["dummy", {"id": "anthropic:messages:big", "label": "big"}]')
    write(providers=["file://one.yaml", "file://two.json", {"openai:chat:x": {"id": "cold", "config": {"topP": 1}}}])
    assert models_in(tmp_path / "promptfooconfig.yaml") == [
        ("openai:chat:small", "openai/small", {"temperature": 0.5}),
        ("dummy", "dummy", {}),
        ("big", "anthropic/big", {}),
        ("cold", "openai/x", {"top_p": 1}),
    ]


def test_a_chat_may_be_json_only_once_it_is_filled(write, tmp_path):
    (tmp_path / "p.json").write_text(
        '[{% if kind %}{"role": "system", "content": "{{ kind }}"},{% endif %} {"role": "user", "content": "{{ q }}"}]'
    )
    tests = [{"vars": {"kind": kind, "q": q}} for kind, q in [("", "one"), ("Kind.", "two"), ("", 'say "three"')]]
    (exam,) = resolve_tasks([write(prompts=["file://p.json"], tests=tests, defaultTest={})])
    one, two, three = exam.questions()
    assert list(one.requests[0].prompt.messages) == [{"role": "user", "content": "one"}]
    assert [each["content"] for each in two.requests[0].prompt.messages] == ["Kind.", "two"]
    assert "not JSON once it is filled" in str(three.failure)


def test_a_threshold_that_promptfoo_does_not_read_is_said(write, caplog):
    logs.say_once.cache_clear()
    tests = [{"vars": {"country": "Oman"}, "assert": [{"type": "not-contains", "value": "x", "threshold": 0.8}]}]
    (exam,) = resolve_tasks([write(prompts=["{{country}}"], tests=tests)])
    (question,) = exam.questions()
    assert "threshold" not in question.instance["__expected"][-1]
    assert "'threshold' of 'not-contains' has no effect" in caplog.text


def test_variables_stand_in_files_beside_the_tests_that_name_them(write, tmp_path):
    for place in ("suite", "data"):
        (tmp_path / place).mkdir()
    (tmp_path / "data" / "vars_1.yaml").write_text("country: Peru\nfood: ceviche")
    (tmp_path / "data" / "vars_2.json").write_text('{"country": "Kenya"}')
    (tmp_path / "suite" / "cases.yaml").write_text("- vars: ../data/vars_*\n- vars: [../data/vars_1.yaml]")
    path = write(tests=["suite/cases.yaml", {"vars": "file://data/vars_1.yaml"}], prompts=["{{country}}"])
    (exam,) = resolve_tasks([str(path)])
    assert [each.instance["country"] for each in exam.questions()] == ["Kenya", "Peru", "Peru"]
    (tmp_path / "data" / "vars_2.json").write_text("[1]")
    with pytest.raises(ProctorError, match="or names files that hold one"):
        resolve_tasks([str(path)])


@pytest.mark.parametrize(
    "provider, told",
    [
        ("file://mine.js", "is a program or an address"),
        ("exec:./x", "is a program or an address"),
        ("opnai:x", "did you mean"),
        ("openai:completion:x", "asks for completions"),
        ("python:mine.py", "is a program or an address"),
        ({"id": "openai:x", "config": {"apiKey": "{{env.KEY}}"}}, "names an environment variable"),
        ({"id": "openai:x", "transform": "x"}, "'transform' of a provider is not obeyed"),
    ],
)
def test_a_provider_that_is_code_or_unknown_is_refused(write, tmp_path, provider, told):
    write(providers=[provider])
    with pytest.raises(ProctorError) as raised:
        models_in(tmp_path / "promptfooconfig.yaml")
    assert told in str(raised.value)


def test_without_a_model_the_config_s_own_sit_it(write, tmp_path):
    path = write(providers=["dummy", {"id": "dummy", "label": "second"}])
    found = proctor("run", path, "-o", tmp_path / "both", "--allow-failures")
    assert found.returncode == 0, found.stderr
    assert (tmp_path / "both" / "dummy" / "results.json").exists()
    assert (tmp_path / "both" / "second" / "results.json").exists()
    named = proctor("run", path, "-m", "dummy", "-o", tmp_path / "one", "-q")
    assert named.returncode == 0, named.stderr
    line = json.loads((tmp_path / "one" / "samples.jsonl").read_text().splitlines()[0])
    assert line["scores"]["assertions"][1]["passed"] is False


def test_a_judge_of_the_config_is_asked_and_its_reason_kept(write, tmp_path):
    verdict = '{"reason": "too short", "pass": true, "score": 0.6}'
    judged = [{"type": "llm-rubric", "value": "is about {{country}}"}, {"type": "contains", "value": "nothing"}]
    path = write(
        prompts=["{{country}}"],
        defaultTest={"options": {"provider": {"id": "scripted", "config": {"seed": 1}}}},
        tests=[{"vars": {"country": "Oman"}, "assert": judged, "threshold": 0.3}],
    )
    with pytest.raises(ProctorError):  # a seed is no argument of that engine
        resolve_tasks([path])
    path = write(
        prompts=["{{country}}"],
        defaultTest={},
        tests=[{"vars": {"country": "Oman"}, "assert": judged, "threshold": 0.3}],
    )
    (tmp_path / "judge.json").write_text(json.dumps({"__type__": "scripted_engine", "answer": verdict}))
    (exam,) = resolve_tasks([path], ExamOptions(judge=str(tmp_path / "judge.json")))
    result = run_exams([exam], ScriptedEngine(answer="hm"), log=tmp_path / "log.db")
    grade = result.grades[exam.name]
    assert list(grade.instance_scores["passed"]) == [1.0]  # 0.6 and 0, in the mean 0.3
    assert grade.instance_scores["assertions"][0][0] == {
        "assertion": "llm-rubric: is about Oman", "passed": True, "score": 0.6, "reason": "too short",
    }  # fmt: skip


def test_problems_of_a_config_are_listed_without_a_run(write):
    found = proctor("validate", write(providers=["opnai:x"], prompts=["{{cuontry}}"]))
    assert found.returncode == 2
    assert "opnai" in found.stderr + found.stdout
    assert "cuontry" in found.stderr + found.stdout


def test_a_judge_of_a_stranger_s_config_is_asked_only_where_the_user_allows_it(write, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    judge = {"id": "openai:j", "config": {"apiBaseUrl": "http://judge.example:81/v1"}}
    test = {"vars": {"country": "Oman"}, "assert": [{"type": "llm-rubric", "value": "polite", "provider": judge}]}
    path = write(prompts=["{{country}}"], defaultTest={}, tests=[test])
    found = proctor("run", path, "-m", "dummy", "-o", tmp_path / "r")
    assert found.returncode
    assert "asks judge.example:81: nobody allowed that" in found.stderr
    assert not (tmp_path / "r" / "results.json").exists()
    assert (
        proctor("run", path, "-m", "dummy", "--judge", "dummy", "-o", tmp_path / "r", "--allow-failures").returncode
        == 0
    )


@pytest.mark.parametrize(
    "changes, told",
    [
        ({"outputPath": "out.json"}, "outputPath has no effect here: --output names the run folder"),
        ({"passRateThreshold": 0.8}, "$.passRateThreshold has no effect: promptfoo has no such key here"),
        ({"redteam": {"plugins": ["x"]}}, "$.redteam has no effect: its questions are made by a service"),
        ({"commandLineOptions": {"verbose": True}}, "verbose has no effect: it is about promptfoo's screen"),
        (
            {"tests": [{"assert": [{"type": "regex", "value": "a", "ignoreCase": True}]}]},
            "$.tests[0].assert.ignoreCase has no effect",
        ),
        ({"tests": [{"assert": [{"type": "equals", "value": "a", "metric": "m"}]}]}, "'metric' has no effect here"),
        ({"tests": "named.csv"}, "'metric' has no effect here"),
    ],
)
def test_keys_that_nobody_reads_are_said(write, tmp_path, changes, told, caplog, monkeypatch):
    (tmp_path / "named.csv").write_text("country,__expected,__metric\nOman,Muscat,accuracy\n")
    monkeypatch.setattr(logs.get_logger(), "propagate", True)
    logs.say_once.cache_clear()
    assert len(resolve_tasks([write(prompts=["Hi"], **changes)])) == 1
    assert any(told in note for note in caplog.messages)


def test_a_key_that_nobody_reads_is_said_once_for_all_tests(write, caplog, monkeypatch):
    monkeypatch.setattr(logs.get_logger(), "propagate", True)
    logs.say_once.cache_clear()
    tests = [{"vars": {"a": 1}, "assert": [{"type": "contains", "value": "a", "colour": 1}]} for _ in range(3)]
    path = write(prompts=["Hi"], tests=tests)
    resolve_tasks([path])
    told = {each for each in caplog.messages if "colour" in each}
    assert told == {f"{path}: $.tests[0].assert.colour has no effect: promptfoo has no such key here"}


def test_an_assertion_without_weight_passes_with_its_score(write, tmp_path):
    tests = [{"assert": [{"type": "contains", "value": "z", "weight": 0}, {"type": "contains", "value": "a"}]}]
    exams = resolve_tasks([write(prompts=["Hi"], tests=tests, defaultTest={})])
    run_exams(exams, ScriptedEngine(answer="a"), log=tmp_path / "log.db", output=tmp_path / "run")
    scores = json.loads((tmp_path / "run" / "samples.jsonl").read_text())["scores"]
    assert [(each["passed"], each["score"]) for each in scores["assertions"]] == [(True, 0), (True, 1)]
    assert scores["passed"] == 1.0


def test_a_key_may_be_no_text(tmp_path):
    (tmp_path / "promptfooconfig.yaml").write_text("on: {push: 1}\nprompts: [Hi]\ntests: []\n")
    assert len(resolve_tasks([str(tmp_path / "promptfooconfig.yaml")])) == 1


def test_assertions_may_stand_elsewhere_in_the_file(write):
    polite = {"templates": {"polite": {"type": "contains", "value": "{{lang}}"}}}
    tests = [{"vars": {"lang": "fr"}, "assert": [{"$ref": "#/templates/polite"}]}]
    (exam,) = resolve_tasks([write(prompts=["{{lang}}"], tests=tests, defaultTest={}, **polite)])
    (question,) = exam.questions()
    assert question.instance["__expected"] == [{"type": "contains", "value": "fr"}]


def test_a_picture_is_sent_as_data(write, tmp_path):
    (tmp_path / "dog.png").write_bytes(b"\x89PNG1")
    (exam,) = resolve_tasks([write(prompts=["{{picture}}"], tests=[{"vars": {"picture": "file://dog.png"}}])])
    (question,) = exam.questions()
    assert question.instance["picture"] == "data:image/png;base64,iVBORzE="


def test_problems_of_assertions_say_in_which_test_they_are(write):
    tests = [{"vars": {"x": ["a", "b"]}}, {"vars": {"x": "c"}, "assert": [{"type": "contians", "value": "a"}]}]
    with pytest.raises(ProctorError, match=r"promptfooconfig.yaml @ \$\.tests\[1\]\.assert"):
        resolve_tasks([write(prompts=["{{x}}"], tests=tests)])


CODE = [
    # what is asserted, of which answer, what promptfoo 0.121 says: whether it holds, its score
    ("output.length < 3", "ab", True, 1),
    ("output.length / 4", "abcde", True, 1.25),
    ({"threshold": 0.5, "value": "output.length / 10"}, "ab", False, 0.2),
    ({"type": "not-javascript", "value": "output.length / 10"}, "ab", False, 0.2),
    ("JSON.parse(output).category === 'bug'", '{"category": "bug"}', True, 1),
    ("JSON.parse(output).category === 'bug'", "a bug", False, 0),
    ("const n = output.length; n > 1 && context.vars.lang === 'fr';", "ab", True, 1),
    ("const s = output; s === 'a;b'", "a;b", True, 1),
    ("const n = 2\nreturn output.length === n", "ab", True, 1),
    ("({pass: output === 'ab', score: 0.3, reason: 'so'})", "ab", True, 0.3),
    ("file://check.js", "ab", True, 1),
    ("file://check.cjs:long", "ab", False, 0),
    ({"value": "file://check.cjs:as", "config": {"wanted": "ab"}}, "ab", True, 1),
    ({"value": "output === context.config.wanted", "config": {"wanted": "ab"}}, "ab", True, 1),
]


@pytest.mark.parametrize("asserted, answer, holds, score", CODE)
def test_code_decides_as_in_promptfoo(write, tmp_path, asserted, answer, holds, score):
    pytest.importorskip("py_mini_racer")
    (tmp_path / "check.js").write_text("export default (output, context) => output === 'ab' && '{{lang}}' !== 'fr'")
    (tmp_path / "check.cjs").write_text(
        "module.exports = {long: output => output.length > 9, as: (output, context) => output === context.config.wanted}"
    )
    given = asserted if isinstance(asserted, dict) else {"value": asserted}
    tests = [{"vars": {"lang": "fr"}, "assert": [{"type": "javascript", **given}]}]
    path = write(prompts=["{{lang}}"], tests=tests, defaultTest={})
    with settings.context(trust_code=True):
        (exam,) = resolve_tasks([path])
        run_exams([exam], ScriptedEngine(answer=answer), log=tmp_path / "log.db", output=tmp_path / "run")
    line = json.loads((tmp_path / "run" / "samples.jsonl").read_text())
    (verdict,) = line["scores"]["assertions"]
    assert (verdict["passed"], verdict["score"]) == (holds, score)
    assert line["scores"]["passed"] == float(holds)


@pytest.mark.parametrize(
    "code, told",
    [
        ("output.match(/z/)", "the code gives null, not true"),
        ("context.providerResponse.raw", "context.providerResponse is not here"),
        ("require('fs').readFileSync('/etc/passwd')", "require is not defined"),
        ("(async () => true)()", "the code gives a promise"),
    ],
)
def test_code_that_decides_nothing_is_a_failure(write, tmp_path, code, told):
    pytest.importorskip("py_mini_racer")
    path = write(prompts=["Hi"], tests=[{"assert": [{"type": "javascript", "value": code}]}], defaultTest={})
    proctor("run", path, "-m", "dummy", "--trust-code", "--log-samples", "--allow-failures", "-o", tmp_path / "run")
    text = (tmp_path / "run" / "samples.jsonl").read_text()
    assert told in text
    assert json.loads(text)["scores"].get("passed") is None


def test_code_that_cannot_be_read_is_refused_before_anybody_is_asked(write):
    pytest.importorskip("py_mini_racer")
    path = write(prompts=["Hi"], tests=[{"assert": [{"type": "javascript", "value": "1 +"}]}])
    with settings.context(trust_code=True), pytest.raises(ProctorError, match=r"cannot be read: '1 \+'"):
        resolve_tasks([path])


def test_code_sees_an_object_where_every_model_answers_by_a_schema(write, tmp_path):
    pytest.importorskip("py_mini_racer")
    answers = {"id": "dummy", "config": {"response_format": {"type": "json_schema"}}}
    tests = [{"assert": [{"type": "javascript", "value": "output.kind === 'bug'"}]}]
    path = write(prompts=["Hi"], providers=[answers], tests=tests, defaultTest={})
    with settings.context(trust_code=True):
        done = run_exams(
            resolve_tasks([path]),
            ScriptedEngine(answer='{"kind": "bug"}'),
            log=tmp_path / "log.db",
            output=tmp_path / "r",
        )
    (results,) = done.results.values()
    assert results["passed"] == 1.0


def test_a_config_without_a_judge_is_valid(write):
    path = write(prompts=["Hi"], tests=[{"assert": [{"type": "llm-rubric", "value": "polite"}]}])
    found = proctor("validate", path)
    assert found.returncode == 0, found.stderr


FILES = {
    "up.js": "module.exports = (output, context) => output.toUpperCase() + context.vars.lang",
    "low.cjs": "module.exports = {low: (output) => output.toLowerCase()}",
    "change.py": """
def get_transform(output, context):
    return output.upper() + context["vars"]["lang"]
def parts(output, context):
    return {"a": [1, 2.0, output]}
def nothing(output, context):
    return None
def throws(output, context):
    raise ValueError("no")
def said(output, context):
    return "0.50"
""",
    "my-check.py": """
from helper import wanted
def get_assert(output, context):
    return {"pass": output == wanted(context), "score": 0.4, "reason": "so"}
def long(output, context):
    return len(output) > 9
def as_said(output, context):
    return output == context["config"]["wanted"]
def under(output, context):
    return {"pass_": True, "score": 0.7, "reason": "x"}
""",
    "helper.py": "def wanted(context):\n    return 'ab'\n",
}


def _py(value, **more):
    return [{"type": "python", "value": value, **more}]


def _equal(value, **more):
    return [{"type": "equals", "value": value, **more}]


PASSED = [
    # options, what is asserted, of which answer, and what promptfoo 0.123 says of each: whether it holds, its score
    ({"transform": "output.trim() + context.vars.lang"}, _equal("abfr"), " ab ", [(True, 1)]),
    ({"transform": "const o = output.trim();\nreturn o + '!'"}, _equal("ab!"), " ab ", [(True, 1)]),
    ({"transform": "JSON.parse(output)"}, _equal('{"a":"x","b":[1,2]}'), '{"a": "x", "b": [1, 2]}', [(True, 1)]),
    (
        {"transform": "JSON.parse(output)"},
        [{"type": "javascript", "value": "output.a === 'x'"}, *_py("output['a'] == 'x'"), {"type": "is-json"}],
        '{"a": "x"}',
        [(True, 1), (True, 1), (True, 1)],
    ),
    ({"transform": "output.length"}, _equal("7"), "no json", [(True, 1)]),
    ({"transform": "file://up.js"}, _equal("ABfr"), "ab", [(True, 1)]),
    ({"transform": "file://low.cjs:low"}, _equal("ab"), "AB", [(True, 1)]),
    ({"transform": "file://change.py"}, _equal("ABfr"), "ab", [(True, 1)]),
    ({"transform": "file://change.py:parts"}, _py("output['a'][2] == 'ab'"), "ab", [(True, 1)]),
    ({"postprocess": "output.trim()"}, _equal("ab"), " ab ", [(True, 1)]),
    (
        {"transform": "output + 'c'"},
        _equal(" abc") + _equal("ABC", transform="output.trim().toUpperCase()") + _equal("x", transform="output"),
        " ab",
        [(True, 1), (True, 1), (False, 0)],
    ),
    ({}, _equal("ABfr", transform="file://change.py"), "ab", [(True, 1)]),
    ({"transform": "file://change.py:said"}, _equal("0.50"), "ab", [(True, 1)]),
    ({}, _equal("FR", transform="`${{a: context.vars.lang}.a}`.toUpperCase()"), "ab", [(True, 1)]),
    ({}, _py("len(output) / 4"), "abcde", [(True, 1.25)]),
    ({}, _py("__import__('numpy').float32(0.5) > 0"), "ab", [(True, 1)]),
    ({}, _py("len(output) / 10", threshold=0.5), "ab", [(False, 0.2)]),
    ({}, [{"type": "not-python", "value": "len(output) / 10"}], "ab", [(False, 0.2)]),
    ({}, [{"type": "not-python", "value": "len(output) > 10"}], "ab", [(True, 1)]),
    ({}, _py("json.loads(output)['a'] == 1"), "x", [(False, 0)]),
    ({}, _py("if output == 'ab':\n  return True\nreturn False"), "ab", [(True, 1)]),
    ({}, _py("{'pass': False, 'score': 0.9, 'reason': 'so'}"), "ab", [(False, 0.9)]),
    ({}, _py("'true'") + _py("'0.4'") + _py("0"), "ab", [(True, 1), (True, 0.4), (False, 0)]),
    ({}, _py("context['vars']['lang'] == '{{lang}}' and context.get('config', 1) == 1"), "ab", [(True, 1)]),
    ({}, _py("context['prompt'] == 'Say fr'"), "ab", [(True, 1)]),
    ({}, _py("file://my-check.py") + _py("file://my-check.py:long"), "ab", [(True, 0.4), (False, 0)]),
    ({}, _py("file://my-check.py:as_said", config={"wanted": "ab"}), "ab", [(True, 1)]),
    ({}, _py("file://my-check.py:under"), "ab", [(True, 0.7)]),
    # what is an error there, or decides nothing, is a failure here
    ({"transform": "JSON.parse(output)"}, _equal("x"), "no json", "the transform failed: SyntaxError"),
    ({"transform": "undefined"}, _equal("x"), "ab", "the transform returned nothing"),
    ({"transform": "file://change.py:nothing"}, _equal("x"), "ab", "the transform returned nothing"),
    ({"transform": "file://change.py:throws"}, _equal("x"), "ab", "the transform failed: ValueError: no"),
    ({}, _equal("x", transform="output.no.more"), "ab", "the transform failed: TypeError"),
    ({}, _py("{'pass': True, 'score': 1}"), "ab", "the code gives dict, not true"),
    ({}, _py("'yes'"), "ab", "the code gives str, not true"),
    ({}, _py("float('nan')"), "ab", "the code gives nan, not true"),
    ({}, _py("{'pass': True, 'score': float('inf'), 'reason': ''}"), "ab", "the code gives dict, not true"),
    ({}, _py("None"), "ab", "the code gives null, not true"),
    ({}, _py("context['providerResponse']['raw']"), "ab", "context['providerResponse'] is not here"),
    ({}, _py("context.get('providerResponse')"), "ab", "context['providerResponse'] is not here"),
]


@pytest.mark.parametrize("options, asserted, answer, told", PASSED)
def test_transforms_and_python_decide_as_in_promptfoo(write, tmp_path, options, asserted, answer, told):
    pytest.importorskip("py_mini_racer")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    tests = [{"vars": {"lang": "fr"}, "options": options, "assert": asserted}]
    path = write(prompts=["Say {{lang}}"], tests=tests, defaultTest={})
    with settings.context(trust_code=True):
        (exam,) = resolve_tasks([path])
        run_exams([exam], ScriptedEngine(answer=answer), log=tmp_path / "log.db", output=tmp_path / "run")
    line = json.loads((tmp_path / "run" / "samples.jsonl").read_text())
    if isinstance(told, str):
        assert told in json.dumps(line)
        assert line["scores"].get("passed") is None
        return
    assert [(each["passed"], each["score"]) for each in line["scores"]["assertions"]] == told
    assert line["scores"]["passed"] == float(all(holds for holds, _ in told))


def test_python_that_cannot_be_run_is_refused_before_anybody_is_asked(write, tmp_path):
    (tmp_path / "change.py").write_text("import nowhere_at_all\n")
    tests = [{"assert": _py("1 +") + _py("file://change.py")}]
    with settings.context(trust_code=True), pytest.raises(ProctorError) as error:
        resolve_tasks([write(prompts=["Hi"], tests=tests)])
    assert "SyntaxError" in str(error.value)
    assert "No module named 'nowhere_at_all'" in str(error.value)


def test_code_beside_a_config_counts_in_its_fingerprint(write, tmp_path):
    def fingerprint():
        with settings.context(trust_code=True):
            (exam,) = resolve_tasks([path])
            result = run_exams([exam], ScriptedEngine(answer="ab"), log=tmp_path / "log.db")
        return result.results[exam.name]["fingerprint"]

    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    path = write(prompts=["Hi"], tests=[{"assert": _py("file://my-check.py")}], defaultTest={})
    before = fingerprint()
    (tmp_path / "helper.py").write_text("def wanted(context):\n    return 'a' 'b'\n")
    assert fingerprint() != before


def _answer(prompt):
    asked = str(prompt.messages[0]["content"])
    usage, model = Usage(1_000_000, 100_000), "gpt-4.1-mini" if "priced" in asked else "nobody-s"
    timing = Timing(1.0, 0.3) if "timed" in asked else Timing()
    return Response(("x",), usage=usage, timing=timing, model=model)


@pytest.mark.parametrize(
    "kind, threshold, asked, told",
    [
        ("latency", 300, "timed", True),
        ("latency", 299, "timed", False),
        ("not-latency", 299, "timed", True),
        ("latency", 300, "x", "how long the answer took is not known: nobody timed it"),
        ("cost", 0.5601, "priced", True),
        ("cost", 0.5599, "priced", False),
        ("cost", 0.5, "x", "what the answer cost is not known: there is no price"),
    ],
)
def test_an_answer_s_own_time_and_price_are_asserted_also_of_the_log(write, tmp_path, kind, threshold, asked, told):
    path = write(prompts=[asked], tests=[{"assert": [{"type": kind, "threshold": threshold}]}], defaultTest={})
    for _ in range(2):  # the second time nobody is asked
        (exam,) = resolve_tasks([path])
        run_exams([exam], ScriptedEngine(function=_answer), log=tmp_path / "log.db", output=tmp_path / "run")
        scores = json.loads((tmp_path / "run" / "samples.jsonl").read_text())["scores"]
        if isinstance(told, str):
            assert told in json.dumps(json.loads((tmp_path / "run" / "samples.jsonl").read_text()))
        else:
            assert scores["passed"] == float(told)
            assert scores["assertions"][0]["reason"] == ("300 ms" if "latency" in kind else "0.56 US dollars")


def test_a_config_may_be_json_in_one_line(tmp_path):
    (tmp_path / "promptfooconfig.json").write_text(json.dumps({"prompts": ["Hi {{a}}"], "tests": [{"vars": {"a": 1}}]}))
    (exam,) = resolve_tasks([str(tmp_path / "promptfooconfig.json")])
    assert exam.dialect == "promptfoo"


def test_python_is_not_run_without_trust_whoever_asks_for_it():
    scorer = ConfigAssertions(columns=["a"])
    code = {"code": "open('/tmp/x', 'w')"}
    with settings.context(trust_code=True):
        scorer.guest(code)  # it is kept, and not run
    with pytest.raises(ProctorError, match="is code"):
        scorer.guest(code)


@pytest.mark.parametrize("where", ["beside", "working folder"])
def test_code_that_an_assertion_imports_counts_wherever_it_is_found(tmp_path, monkeypatch, where):
    for name in ("config", "working"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "working")
    helper = tmp_path / ("config" if where == "beside" else "working") / "wanted_here.py"
    helper.write_text("WANTED = 'a'\n")
    check = "from wanted_here import WANTED\ndef get_assert(output, context):\n    return output == WANTED\n"
    (tmp_path / "config" / "check.py").write_text(check)
    tests = [{"assert": [{"type": "python", "value": "file://check.py"}]}]
    config = tmp_path / "config" / "promptfooconfig.json"
    config.write_text(json.dumps({"prompts": ["x"], "providers": ["echo"], "tests": tests}))
    made = []
    for text in ("a", "b", "a"):
        helper.write_text(f"WANTED = '{text}'\n")
        with settings.context(trust_code=True):
            made.append(resolve_tasks([str(config)])[0].definition.metrics)
    assert made[0] == made[2] != made[1]


@pytest.mark.parametrize(
    "written, shown",
    [
        *(
            (each, each)
            for each in ("yes", "No", "on", "OFF", "y", "12:30", "1:2:3", "1_000", "2024-01-01", "0b11", "=")
        ),
        *(
            ("010", "10"),
            ("0x10", "16"),
            ("0o10", "8"),
            ("1e3", "1000"),
            ("1.5e+3", "1500"),
            (".5", "0.5"),
            ("+2", "2"),
        ),
        *(
            ("true", "true"),
            ("False", "false"),
            ("~", ""),
            ("null", ""),
            ("2.0", "2"),
            ('"2.0"', "2.0"),
            ("-1.25", "-1.25"),
        ),
    ],
)
def test_values_are_those_of_yaml_1_2_and_printed_as_promptfoo_does(tmp_path, written, shown):
    (tmp_path / "plain.yaml").write_text(
        f'prompts: ["{{{{word}}}}!"]\nproviders: [dummy]\ntests:\n- vars:\n    word: {written}\n'
        f"  assert: [{{type: equals, value: {written}}}]\n"
    )
    (exam,) = resolve_tasks([str(tmp_path / "plain.yaml")])
    assert asked(exam)[0][0]["content"] == f"{shown}!"


@pytest.mark.parametrize("word, score", [("yes", 1.0), ("true", 0.0)])
def test_what_is_asserted_is_a_text_where_it_stands_as_one(write, word, score, tmp_path):
    (tmp_path / "plain.yaml").write_text(
        "prompts: [Hi]\nproviders: [dummy]\ntests:\n- assert: [{type: equals, value: yes}]\n"
    )
    exams = resolve_tasks([str(tmp_path / "plain.yaml")])
    result = run_exams(exams, ScriptedEngine(answer=word), log=tmp_path / "log.db")
    assert list(result.grades[exams[0].name].instance_scores["passed"]) == [score]


def test_a_prompt_says_how_it_is_answered_before_its_provider_does(write):
    said = {"temperature": 0.9, "max_tokens": 7, "stop": "X", "frequency_penalty": 0.25}
    exams = resolve_tasks([write(prompts=["Hi", {"raw": "Ho", "config": said}])])
    first, second = (next(iter(each.questions())).requests[0].decoding for each in exams)
    assert (first.temperature, first.max_tokens, first.stop) == (0.0, 1024, ())
    assert (second.temperature, second.max_tokens, second.stop) == (0.9, 7, ("X",))
    assert second.extra == {"frequency_penalty": 0.25}
    (greedy,) = resolve_tasks([write(prompts=[{"raw": "Ho", "config": {"temperature": 0}}])])
    decoding = with_defaults(next(iter(greedy.questions())).requests[0].decoding, {"temperature": 1, "top_p": 0.5})
    assert (decoding.temperature, decoding.top_p, decoding.extra) == (0.0, 0.5, {})


def test_the_longest_answer_is_the_provider_s_where_it_says_one(write):
    (exam,) = resolve_tasks([write(prompts=["Hi"])])

    def longest(engine, given=exam):
        return next(iter(given.suited_to(engine).questions())).requests[0].decoding.max_tokens

    told, untold = OpenAIEngine(model="m", max_tokens=50), OpenAIEngine(model="m")
    assert (longest(told), longest(untold)) == (None, 1024)  # None is the engine's own
    (own,) = resolve_tasks([write(prompts=["Hi"])], ExamOptions(decoding={"max_tokens": 9}))
    assert longest(told, own) == 9
