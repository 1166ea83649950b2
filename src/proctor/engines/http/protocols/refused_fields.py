"""Fields that a model does not take: known beforehand (the table of providers), or learnt from what the server says.

Wordings are those of OpenAI ("Unsupported parameter: 'max_tokens' …"), Amazon Bedrock ("This model doesn't support the
stopSequences field"), Anthropic ("`temperature` is deprecated for this model", "temperature: Extra inputs are not
permitted") and Groq ("property 'top_k' is unsupported"), as of November 2026.
"""

from __future__ import annotations

import re

_NAME = r"[`'\"]?(max_tokens|maxTokens|temperature|top_p|topP|top_k|topK|stop|stop_sequences|stopSequences)[`'\"]?"
_WORDINGS = tuple(
    re.compile(pattern.replace("NAME", _NAME), re.IGNORECASE)
    for pattern in (
        r"unsupported (?:parameter|value): NAME",
        r"does(?:n't| not) support the NAME field",
        r"NAME is deprecated for this model",
        r"NAME: extra inputs are not permitted",
        r"property NAME is unsupported",
        r"temperature[`'\"]? and NAME cannot both be specified",
    )
)
_OURS = {
    "maxtokens": "max_tokens",
    "topp": "top_p",
    "topk": "top_k",
    "stop_sequences": "stop",
    "stopsequences": "stop",
}
_STOP_LIMIT = re.compile(r"'?stop'?.{0,60}maximum length (\d+)", re.IGNORECASE | re.DOTALL)


def refused_field(message: str) -> str | None:
    """Return the decoding field that a server's error refuses; ``None`` where it names none."""
    for wording in _WORDINGS:
        if found := wording.search(message):
            name = found[1].lower()
            return _OURS.get(name, name)
    return None


def stop_limit(message: str) -> int | None:
    """Return how many stop strings a server says that it takes (OpenAI: 4); ``None`` where it does not say so."""
    found = _STOP_LIMIT.search(message)
    return int(found[1]) if found else None
