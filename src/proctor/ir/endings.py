"""Reasons for which models stop writing, in the words of every service: a limit, a refusal, a filter, or done."""

from __future__ import annotations

from proctor.ir.responses import Failure, Response

FILTERED = "content_filter"
"""The kind of a failure that says that the model, or a filter before or behind it, refused to answer."""

THINKING = "thinking"
"""The kind of a failure that says that all tokens went into thoughts."""

TRUNCATED = "truncated"
"""The kind of a failure that says that an answer was cut off, and that the user does not want such answers scored."""

FILTER_REASONS = frozenset(
    {
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "refusal",
        "safety",
        "image_safety",
        "prohibited_content",
        "blocklist",
        "spii",
        "recitation",
        "model_armor",
        "sensitive",
        "moderation",
        "moderated",
        "content_moderation",
    }
)
"""Reasons to end an answer, in small letters, with which services say that it was refused or filtered: OpenAI, Azure;
Anthropic; Bedrock; Gemini (``SAFETY`` to ``MODEL_ARMOR``); Zhipu (``sensitive``); BAM (``moderation``)."""

CUT_REASONS = frozenset(
    {
        "length",
        "limit",
        "max_tokens",
        "max_length",
        "max_output",
        "max_output_tokens",
        "model_length",
        "token_limit",
        "model_context_window_exceeded",
    }
)
"""Reasons to end an answer, in small letters, with which services say that there was no room for more: OpenAI
(``length``, ``max_output_tokens``); Anthropic, Gemini, BAM (``max_tokens``, ``token_limit``); Cohere, older servers."""

GOOD_REASONS = frozenset(
    {
        *(
            "stop",
            "stopped",
            "stop_sequence",
            "stop_string",
            "stop_str",
            "stop_token",
            "stop_word",
            "stop_words",
            "word",
        ),
        *("eos", "eos_token", "end", "end_turn", "end_of_turn", "end_of_text", "end_of_sequence", "endoftext"),
        *("complete", "completed", "done", "finish", "finished", "normal", "success", "succeeded", "null", "none"),
        *("tool_calls", "tool_call", "tool_use", "function_call", "pause_turn", "load", "unload"),
    }
)
"""Reasons to end an answer, in small letters, with which services say that it is whole, or say nothing."""

_HARMLESS = frozenset({"", "stop", "length", "tool_calls"})  # nearly every answer ends so
_LONGEST_REASON = 80  # characters that are looked at: reasons are words, and servers of strangers send anything


def _word(reason: str) -> str:
    """Return the reason itself; Google puts an explanation behind a colon (``content_filter: X``)."""
    return reason[:_LONGEST_REASON].lower().partition(":")[0].strip()


def is_filtered_end(reason: str) -> bool:
    """Return whether a reason to end an answer says that it was refused or filtered."""
    return reason not in _HARMLESS and _word(reason) in FILTER_REASONS


def is_cut_off(reason: str) -> bool:
    """Return whether a reason to end an answer says that there was no room for more."""
    return reason == "length" or (reason not in _HARMLESS and _word(reason) in CUT_REASONS)


def is_known_end(reason: str) -> bool:
    """Return whether an answer that ended for this reason is one, whole or cut off."""
    return reason in _HARMLESS or _word(reason) in GOOD_REASONS or is_cut_off(reason)


def without_filtered(response: Response) -> Response:
    """Return a failure in place of an answer that was refused or filtered, any other response as it is.

    Engines file such answers as failures; logs of earlier versions have some whose text was taken for an answer.
    """
    for reason in response.finish_reasons:
        if is_filtered_end(reason):
            said = f"the answer was refused or filtered (it ended with '{reason[:_LONGEST_REASON]}'): it is not graded"
            failure = Failure(FILTERED, said, retryable=False)
            return Response(failure=failure, usage=response.usage, timing=response.timing)
    return response
