"""Records the fields that providers document for requests and replies, from their own Python packages.

Usage: ``python -m conformance.providers.fields FOLDER > tests/engines/http/provider_fields.json``, where FOLDER holds
wheels (``pip download --no-deps openai 'anthropic<1' ollama mistralai together groq ibm-watsonx-ai botocore``; the
packages of Anthropic before 1 are those of the API version 2023-06-01). Names only, read from syntax trees and from
botocore's service model; nothing is imported.
"""

from __future__ import annotations

import ast
import gzip
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

Fields = dict[str, list[str]]


def wheel_of(folder: Path, package: str) -> zipfile.ZipFile:
    """Return the wheel of a package in the folder."""
    return zipfile.ZipFile(max(folder.glob(f"{package}-*.whl")))


def version_of(wheel: zipfile.ZipFile) -> str:
    """Return name and version of a wheel."""
    return " ".join(Path(str(wheel.filename)).name.split("-")[:2])


def fields_of(wheel: zipfile.ZipFile, path: str, *names: str) -> Fields:
    """Return the annotated fields of classes, and which of them are required."""
    found: Fields = {"all": [], "required": []}
    for node in ast.parse(wheel.read(path)).body:
        if not (isinstance(node, ast.ClassDef) and node.name in names):
            continue
        for each in node.body:
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name):
                found["all"].append(each.target.id)
                note = ast.unparse(each.annotation)
                is_typed_dict = any("TypedDict" in ast.unparse(base) for base in node.bases)
                if note.startswith("Required[") or not (is_typed_dict or each.value or "Optional[" in note):
                    found["required"].append(each.target.id)
    if not found["all"]:
        raise LookupError(f"{path} has none of {names}")
    return found


def bedrock(wheel: zipfile.ZipFile) -> dict[str, Any]:
    """Return the shapes of the Converse operation."""
    path = "botocore/data/bedrock-runtime/2023-09-30/service-2.json.gz"
    shapes = json.loads(gzip.decompress(wheel.read(path)))["shapes"]
    names = ["ConverseRequest", "InferenceConfiguration", "Message", "ContentBlock", "ImageBlock", "ToolSpecification",
             "ConverseResponse", "ConverseOutput", "TokenUsage", "ToolUseBlock"]  # fmt: skip
    found: dict[str, Any] = {
        name: {"all": sorted(shapes[name]["members"]), "required": shapes[name].get("required", [])} for name in names
    }
    return {**found, "StopReason": shapes["StopReason"]["enum"], "ImageFormat": shapes["ImageFormat"]["enum"]}


def main(folder: Path) -> None:
    """Print the fields as JSON."""
    openai, anthropic, ollama = (wheel_of(folder, name) for name in ("openai", "anthropic", "ollama"))
    mistral, together, groq = (wheel_of(folder, name) for name in ("mistralai", "together", "groq"))
    watsonx, botocore = wheel_of(folder, "ibm_watsonx_ai"), wheel_of(folder, "botocore")
    schema = "ibm_watsonx_ai/foundation_models/schema/_api.py"
    base = "CompletionCreateParamsBase"
    found = {
        "sources": [
            version_of(each) for each in (openai, anthropic, ollama, mistral, together, groq, watsonx, botocore)
        ],
        "openai chat": fields_of(openai, "openai/types/chat/completion_create_params.py", base),
        "openai completions": fields_of(openai, "openai/types/completion_create_params.py", base),
        "openai usage": fields_of(openai, "openai/types/completion_usage.py", "CompletionUsage"),
        "openai choice": fields_of(openai, "openai/types/chat/chat_completion.py", "Choice"),
        "openai reply": fields_of(openai, "openai/types/chat/chat_completion.py", "ChatCompletion"),
        "anthropic": fields_of(anthropic, "anthropic/types/message_create_params.py", "MessageCreateParamsBase"),
        "anthropic usage": fields_of(anthropic, "anthropic/types/usage.py", "Usage"),
        "anthropic reply": fields_of(anthropic, "anthropic/types/message.py", "Message"),
        "ollama": fields_of(
            ollama, "ollama/_types.py", "BaseRequest", "BaseStreamableRequest", "BaseGenerateRequest", "ChatRequest"
        ),
        "ollama options": fields_of(ollama, "ollama/_types.py", "Options"),
        "ollama reply": fields_of(ollama, "ollama/_types.py", "BaseGenerateResponse", "ChatResponse"),
        "mistral": fields_of(mistral, "mistralai/client/models/chatcompletionrequest.py", "ChatCompletionRequest"),
        "together-ai": fields_of(together, "together/types/chat/completion_create_params.py", base),
        "groq": fields_of(groq, "groq/types/chat/completion_create_params.py", "CompletionCreateParams"),
        "watsonx": fields_of(watsonx, schema, "TextChatParameters"),
        "watsonx-text": fields_of(watsonx, schema, "TextGenParameters"),
        "aws": bedrock(botocore),
    }
    json.dump(found, sys.stdout, indent=1)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
