"""AISBench's models, parsers of prompts, inferencers and small checks, as programs call them."""

import asyncio
from types import SimpleNamespace
from unittest import mock

import pytest
from conformance.aisbench.recording_server import RecordingServer, answer_to

INFERENCERS = "ais_bench.benchmark.openicl.icl_inferencer"

pytestmark = pytest.mark.usefixtures("installed")


class Reply:
    """What a session of a program gives: a status, words, or pieces."""

    def __init__(self, status=200, words="", pieces=()):
        self.status, self.reason, self.words = status, "busy", words
        self.content = self.came(pieces)

    async def came(self, pieces):
        for piece in pieces:
            yield piece

    async def text(self):
        return self.words

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        return False


class Session:
    def __init__(self, *replies):
        self.replies, self.sent = list(replies), []

    def post(self, **request):
        self.sent.append(request)
        return self.replies.pop(0)


def completions(**settings):
    from ais_bench.benchmark.models import VLLMCustomAPI

    return VLLMCustomAPI(**{"path": "p", "model": "m", "host_port": 9, "retry": 2, "generation_kwargs": {}, **settings})


def answered(model, session, **settings):
    from ais_bench.benchmark.models.output import Output

    output = Output(**settings)
    asyncio.run(model.generate("q", 5, output, session=session))
    return output


def test_a_session_of_the_program_is_asked_through_and_failures_are_tried_again():
    session = Session(Reply(words="no json"), Reply(words='{"choices": [{"text": "yes"}]}'))
    output = answered(completions(), session)
    assert (output.success, output.content) == (True, "yes")
    assert session.sent[0]["json"]["prompt"] == "q"
    lost = answered(completions(retry=1), Session(Reply(words="oops")))
    assert not lost.success
    assert "AISBenchValueError" in lost.error_info
    assert answered(completions(), Session(Reply(503))).error_info == "busy"


def test_every_piece_of_a_streamed_answer_has_its_point_in_time():
    pieces = [
        b'data: {"choices": [{"text": "y"}]}\n\n: still here\n\n',
        b'data: {"choices": [{"text": "es"}]}\n\ndata: [DONE]\n\n',
    ]
    output = answered(completions(stream=True), Session(Reply(pieces=pieces)), perf_mode=True)
    assert (output.content, len(output.time_points)) == ("yes", 3)
    with RecordingServer() as server:
        own = answered(completions(stream=True, host_ip="127.0.0.1", host_port=server.port), None, perf_mode=True)
    assert own.content == answer_to("q")
    assert len(own.time_points) > 2
    assert own.time_points == sorted(own.time_points)


def test_losses_of_prompts_are_measured_and_the_label_with_the_least_is_the_answer():
    from ais_bench.benchmark.models.output import Output
    from ais_bench.benchmark.openicl.icl_inferencer.ppl_inferencer import PPLInferencer

    output = Output()
    words = '{"choices": [{"prompt_logprobs": [null, {"7": {"logprob": -0.5}}, {"8": {"logprob": -1.5}}]}]}'
    asyncio.run(completions().get_ppl("q", 1, output, session=Session(Reply(words=words))))
    assert (output.success, output.ppl) == (True, 1.0)
    with mock.patch(f"{INFERENCERS}.icl_base_inferencer.build_model_from_cfg"):
        inferencer = PPLInferencer({})
    assert (
        inferencer._calc_prediction([{"label": "A", "ppl": 2}, {"label": "B", "ppl": 1}, {"label": "C", "ppl": 1}])
        == "B"
    )
    assert inferencer._calc_prediction([]) is None

    async def get_ppl(prompt, limit, output, session=None):
        output.success, output.ppl, output.input = prompt != "bad", float(len(prompt)), prompt

    inferencer.model.get_ppl = get_ppl
    for prompts, content in (({"A": "long", "B": "no"}, "B"), ({"A": "bad", "B": "no"}, None)):
        asked = {label: {"prompt": prompt} for label, prompt in prompts.items()}
        row = {"index": 3, "qa": asked, "gold": "A", "max_out_len": 1, "data_abbr": "d"}
        asyncio.run(inferencer.do_request(row, None, None))
        assert inferencer.output_handler.cache_queue.sync_q.get()[3].content == content


def test_a_server_class_makes_its_parser_of_the_name_in_its_module():
    from ais_bench.benchmark.models.api_models import triton_api

    layout = {"round": [{"role": "HUMAN", "begin": "Q: "}, {"role": "BOT", "begin": "A: ", "generate": True}]}
    with mock.patch.object(triton_api, "LMTemplateParser") as parser:
        triton_api.TritonCustomAPI(path="p", model_name="m", meta_template=layout)
    parser.assert_called_once_with(layout)


# -- parsers ---------------------------------------------------------------------------------------------------------

LAYOUT = {
    "round": [{"role": "HUMAN", "api_role": "user"}, {"role": "BOT", "api_role": "assistant", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "system", "prompt": "Be brief."}],
}


def parser():
    from ais_bench.benchmark.models.api_models.base_api import APITemplateParser

    return APITemplateParser(LAYOUT)


def test_the_steps_of_a_parser_can_be_called_one_by_one():
    made = parser()
    said = [
        {"role": "HUMAN", "prompt": "a"},
        {"role": "BOT", "prompt": "b"},
        {"role": "JUDGE", "fallback_role": "HUMAN"},
    ]
    assert made._split_rounds(said, LAYOUT["round"]) == [0, 2, 3]
    roles = made._update_role_dict(said[:2])
    assert made._prompt2api(said[:2], roles, for_gen=True) == ([{"role": "user", "prompt": "a"}], False)
    assert made._prompt2api({"role": "SYSTEM"}, roles) == ({"role": "system", "prompt": "Be brief."}, True)
    made.roles["HUMAN"]["begin"] = "Q: "
    assert made._role2api_role(said[0], made._update_role_dict(said[0]))[0]["prompt"] == "Q: a"


@pytest.mark.parametrize(
    "act, kind",
    [
        (lambda made: made.parse_template(7, "gen"), "AISBenchTypeError"),
        (lambda made: made.parse_template("x", "chat"), "AISBenchTypeError"),
        (lambda made: made._prompt2api(["x"], made.roles), "AISBenchTypeError"),
        (lambda made: made._split_rounds([{"role": "JUDGE"}], LAYOUT["round"]), "AISBenchKeyError"),
        (lambda made: made._role2api_role({"role": "HUMAN"}, made.roles), "AISBenchValueError"),
        (lambda made: type(made)({"round": "x"}), "AISBenchTypeError"),
    ],
)
def test_what_a_parser_refuses_has_aisbenchs_types(act, kind):
    from ais_bench.benchmark.utils.logging import exceptions

    with pytest.raises(getattr(exceptions, kind)):
        act(parser())


# -- inferencers -----------------------------------------------------------------------------------------------------


def inferencer(module, name, model=None, **settings):
    import importlib

    kind = getattr(importlib.import_module(f"{INFERENCERS}.{module}"), name)
    with mock.patch(f"{INFERENCERS}.icl_base_inferencer.build_model_from_cfg", return_value=model or mock.MagicMock()):
        return kind({}, **settings)


def test_warming_up_asks_and_counts_what_came_of_it():
    from ais_bench.benchmark.models.output import RequestOutput

    made = inferencer("icl_gen_inferencer", "GenInferencer")
    asked = []

    async def do_request(data, token_bucket, session):
        asked.append(data["index"])
        output = RequestOutput()
        output.success, output.error_info = len(asked) > 1, "cold"
        await made.output_handler.report_cache_info(0, "q", output, "d", None)

    made.do_request = do_request
    found = asyncio.run(made.warmup([{"index": 0}, {"index": 1}], warmup_times=3, concurrency=1))
    assert asked == [0, 1, 0]
    assert found == {"success": 2, "failed": 1, "failed_reasons": {"cold": 1}}


def test_a_counter_adds_up_what_was_counted_before_it_was_stopped():
    from ais_bench.benchmark.openicl.icl_inferencer.icl_base_api_inferencer import StatusCounter

    counter = StatusCounter(4)
    for count in (counter.post, counter.post, counter.rev, counter.case_finish):
        asyncio.run(count())
    counter.stop()
    counter.start()
    counter.join(5)
    assert (counter.post_req, counter.get_req, counter.case_finish_req, counter.failed_req) == (2, 1, 1, 0)


def test_pictures_that_a_model_answers_with_are_written_beside_the_answers(tmp_path):
    from ais_bench.benchmark.models.output import FunctionCallOutput
    from ais_bench.benchmark.openicl.icl_inferencer.output_handler import bfcl_v3_output_handler
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchTypeError
    from PIL import Image

    def draw(prompts, answers, **more):
        for answer in answers:
            answer.success, answer.content = True, [Image.new("RGB", (2, 2)), "a dot"]

    made = inferencer("icl_lmm_gen_inferencer", "LMMGenInferencer", SimpleNamespace(generate=draw))
    made.output_handler.set_output_path(str(tmp_path / "new"))
    made.batch_inference({"index": [0], "prompt": ["dot"], "data_abbr": ["d"], "gold": ["g"]})
    place, name, asked, output, gold = made.output_handler.cache_queue.sync_q.get()
    line = made.output_handler.get_prediction_result(output, gold=gold, input=asked, data_abbr=name)
    assert (tmp_path / "new" / line["prediction"][0]).exists()
    assert (line["prediction"][1], line["gold"], line["origin_prompt"], place) == ("a dot", "g", "dot", 0)
    handler = bfcl_v3_output_handler.BFCLV3OutputHandler()
    with pytest.raises(AISBenchTypeError):
        handler.get_prediction_result("words")
    called = FunctionCallOutput()
    called.tool_calls = [{"f": {}}]
    assert handler.get_prediction_result(called)["prediction"] == [{"f": {}}]


def test_a_method_that_a_class_lacks_is_also_pythons_own_error():
    with pytest.raises(NotImplementedError):
        inferencer("icl_base_local_inferencer", "BaseLocalInferencer").batch_inference({})


# -- checks of programs and answers ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said, right, verdict",
    [
        ("assert f(2) == [2, 3]", "[2,3]", True),
        ("# f\nassert f() == 'x'\nassert f() == 'y'", '"x"', True),
        ("7", "7", True),
        ("assert f(2) == g(3)", "3", False),
        ("assert f(2) ==", "3", False),
        ("7", "seven", False),
    ],
)
def test_outputs_are_compared_without_running_anything(said, right, verdict):
    from ais_bench.benchmark.datasets.livecodebench.evaluator import check_testcase_output

    assert check_testcase_output(said, right) is verdict


def test_helpers_of_programs_and_of_vqa_do_what_theirs_do():
    from ais_bench.benchmark.datasets.livecodebench import testing_util as util
    from ais_bench.benchmark.datasets.textvqa import MAX_TARGET_LENGTH, TEXTEvaluatorForVita, VQAEvalMethod

    with util.Capturing() as written:
        print("one")
        print("two")
    assert written == ["one\ntwo\n"]
    from ais_bench.benchmark.datasets.livecodebench.livecodebench import Test, TestType

    assert Test("1", "2", "functional").testtype is TestType.FUNCTIONAL
    assert util.truncatefn("abcdefgh", 4) == "ab...(truncated) ...gh"
    assert [util.combined_int_check(each) for each in (3, "3", "x", 3.5)] == [True, True, False, False]
    assert util.custom_compare_([" a ", "b"], "a\nb")
    method = VQAEvalMethod()
    assert method.process_digit_article("The three dogs") == "3 dogs"
    with pytest.raises(ValueError, match="at most"):
        method.process_punctuation("x" * (MAX_TARGET_LENGTH + 1))
    assert "accuracy" in TEXTEvaluatorForVita().score(["☞ red"], [[{"answer": "red"}] * 4])


def test_scores_of_boxes_say_where_each_box_is():
    from ais_bench.benchmark.openicl.icl_evaluator import BBoxIoUEvaluator

    gold = {"box": [0, 0, 50, 20], "image_width": 100, "image_height": 40}
    found = BBoxIoUEvaluator(reference_bbox_key="box", coord_scale=10).score([[0, 0, 5, 5], [5, 5, 1, 1]], [gold, gold])
    assert found["Accuracy@0.5"] == 50
    right, wrong = found["details"]
    assert (right["pred_bbox_pixel"], right["iou"], right["coord_mode"]) == ([0, 0, 50, 20], 1.0, "0-10")
    assert wrong["invalid"]
    assert "reversed" in wrong["error"]
