"""What AISBench's evaluators say of single answers, and their readings of one answer that programs call.

Each class here stands before :class:`~proctor.compat.aisbench_names.evaluator_base.BaseEvaluator`, which says of every
answer ``pred``, ``answer`` and ``correct``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.box_details import BoxDetails
from proctor.compat.aisbench_names.dataset_functions import pass_at_k_of_each
from proctor.scoring.evaluators import answers, code, long_texts, pictures
from proctor.scoring.postprocessors.general import general
from proctor.scoring.text_distance import normalize_answer


class ReadingDetails:
    """Gives every answer its detail from what it was read as."""

    def _detail(self, given: Any, gold: Any, right: bool, parsed: Any) -> dict[str, Any]:
        del given
        return {"pred": parsed, "answer": gold, "correct": right}


class MathVision(ReadingDetails):
    """Answers to mathematics with pictures: options and formulas."""

    def _detail(self, given: Any, gold: Any, right: bool, parsed: Any) -> dict[str, Any]:
        said = self._clean_prediction(given)
        return {"pred": said, "answer": pictures.as_open(gold), "correct": right, "parsed_pred": parsed}

    @staticmethod
    def _clean_prediction(prediction: Any) -> str:
        return pictures.without_end(prediction)

    @staticmethod
    def _extract_open_prediction(prediction: str) -> str:
        return pictures.boxed_formula(prediction)

    @staticmethod
    def _extract_mcq_prediction(prediction: str, choices: Mapping[str, Any]) -> Any:
        return pictures.lettered_option(prediction, choices)


class MMMU(ReadingDetails):
    """Answers about pictures of many subjects."""

    def _detail(self, given: Any, gold: Any, right: bool, parsed: Any) -> dict[str, Any]:
        return {"pred": str(given).replace("<|im_end|>", ""), "answer": gold, "correct": right, "parsed_pred": parsed}


class RealworldQA(ReadingDetails):
    """Answers about pictures of the street, behind ``ANSWER:``."""

    def _detail(self, given: Any, gold: Any, right: bool, parsed: Any) -> dict[str, Any]:
        answer = pictures.as_open(gold).get("answer", "")
        return {
            "origin_prediction": given,
            "pred": parsed,
            "answer": answer,
            "normalized_prediction": self._normalize_answer(parsed),
            "normalized_answer": self._normalize_answer(answer),
            "correct": right,
        }

    def _extract_answer(self, prediction: str) -> str:
        return pictures.marked_answer(prediction)

    def _normalize_answer(self, answer: str) -> str:
        return answer.strip().lower()


class TriviaQA(ReadingDetails):
    """Answers that hold one of several right ones."""

    def _detail(self, given: Any, gold: Any, right: bool, parsed: Any) -> dict[str, Any]:
        del given
        return {"pred": parsed, "answer": [general(each).lower() for each in gold], "correct": right}


class VitaTexts:
    """Answers of VITA to questions about texts in pictures."""

    def _extract_answer(self, text: Any) -> str:
        return pictures.vita_answer(text) if isinstance(text, str) else ""


class ProOptions:
    """Options of MMLU-Pro, by letter or by text."""

    def is_equal(self, pred: str, refer: str) -> bool:
        """Whether an answer is the letter or the text of an option such as ``B. a cat``."""
        return answers.is_pro_option(pred, refer)


class PrintedWords:
    """What code prints, in words."""

    def _extract_code_output(self, prediction: str, reference: str) -> str:
        return long_texts.printed_words(prediction, reference)

    def _process_code(self, response: str) -> str:
        return long_texts.code_words(response)

    def _normalize_answer(self, s: str) -> str:
        return normalize_answer(s)

    def _is_correct(self, prediction: str, reference: str) -> bool:
        return self._normalize_answer(prediction) == self._normalize_answer(reference)


class Loyalty:
    """Judgements of stories: true or false."""

    def _extract_loyalty_from_prediction(self, prediction: str) -> str:
        return long_texts.judged_word(prediction)

    def _extract_loyalty_from_reference(self, reference: str) -> str:
        return long_texts.wanted_word(reference)


class Programs:
    """Programs in answers, and their tests."""

    def _process_answer(self, text: str) -> str:
        return code.mbpp_program(text)

    def _process_test(self, test_case: str, pred: str) -> str:
        return f"{pred}\n{test_case}"


class PlainPrograms(Programs):
    """Programs in answers by other rules."""

    def _process_answer(self, text: str) -> str:
        return code.mbpp_program_plain(text)


class RatedPrograms(Programs):
    """Programs of which several answer a problem."""

    @staticmethod
    def estimate_pass_at_k(num_samples: int | Iterable[int], num_correct: Sequence[int], k: int) -> Any:
        """Return for each problem the chance that one of ``k`` programs is right, as an array."""
        return pass_at_k_of_each(num_samples, num_correct, k)


class NumberedDetails:
    """Gives the details of answers by their positions."""

    def score(self, predictions: Sequence[Any], references: Sequence[Any], **columns: Any) -> dict[str, Any]:
        """Return scores by name; ``details`` by position."""
        found: dict[str, Any] = super().score(predictions, references, **columns)  # type: ignore[misc]
        if "details" in found:
            found["details"] = {
                str(place): {"references": each["answer"], "predictions": each["pred"], "correct": each["correct"]}
                for place, each in enumerate(found["details"])
            }
        return found


PARTS: Mapping[str, type[Any]] = {
    "AGIEvalEvaluator": ReadingDetails,
    "BBoxIoUEvaluator": BoxDetails,
    "CodeUEvaluator": PrintedWords,
    "MBPPEvaluator": Programs,
    "MBPPEvaluator2": PlainPrograms,
    "MBPPPassKEvaluator": RatedPrograms,
    "MGSM_Evaluator": NumberedDetails,
    "MMLUProBaseEvaluator": ProOptions,
    "MMMUEvaluator": MMMU,
    "MathVisionEvaluator": MathVision,
    "RealworldQAEvaluator": RealworldQA,
    "SciFiEvaluator": Loyalty,
    "TEXTEvaluatorForVita": VitaTexts,
    "TriviaQAEvaluator": TriviaQA,
}
"""By the name of an evaluator."""
