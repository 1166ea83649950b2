"""The values that flow through the pipeline: frozen, slotted, without effects."""

from proctor.ir.answerer import Answerer, Answers, KnownAnswerer, in_order, in_windows
from proctor.ir.decoding_values import KNOWN_DECODING, unfit_decoding
from proctor.ir.endings import (
    FILTERED,
    THINKING,
    TRUNCATED,
    is_cut_off,
    is_filtered_end,
    is_known_end,
    without_filtered,
)
from proctor.ir.exchange import Exchange
from proctor.ir.prompt import Message, Prompt, media_in, message_text, prompt_of_source
from proctor.ir.question import Answered, Ask, Question
from proctor.ir.requests import (
    Choose,
    Converse,
    Decoding,
    Generate,
    Likelihood,
    Pair,
    Request,
    Rolling,
    Score,
    content_key,
    several_answers,
)
from proctor.ir.responses import BATCHED, Failure, Response, Scored, Timing, TokenLogProbability, Usage, total_usage
from proctor.ir.spans import Media, Origin, Part, Span, Turn, turn

__all__ = [
    "BATCHED",
    "FILTERED",
    "KNOWN_DECODING",
    "THINKING",
    "TRUNCATED",
    "Answered",
    "Answerer",
    "Answers",
    "Ask",
    "Choose",
    "Converse",
    "Decoding",
    "Exchange",
    "Failure",
    "Generate",
    "KnownAnswerer",
    "Likelihood",
    "Media",
    "Message",
    "Origin",
    "Pair",
    "Part",
    "Prompt",
    "Question",
    "Request",
    "Response",
    "Rolling",
    "Score",
    "Scored",
    "Span",
    "Timing",
    "TokenLogProbability",
    "Turn",
    "Usage",
    "content_key",
    "in_order",
    "in_windows",
    "is_cut_off",
    "is_filtered_end",
    "is_known_end",
    "media_in",
    "message_text",
    "prompt_of_source",
    "several_answers",
    "total_usage",
    "turn",
    "unfit_decoding",
    "without_filtered",
]
