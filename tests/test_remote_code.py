"""No library is left to ask, or to decide by itself, whether a model's own code runs."""

import ast
from pathlib import Path

import proctor

LOADERS = {"from_pretrained", "SentenceTransformer", "CrossEncoder", "pipeline"}
SOURCES = Path(proctor.__file__).parent
WITHOUT_CODE = {"peft.PeftModel.from_pretrained"}
"""What loads weights into a model that is there."""


def silent_calls(source: str) -> list[str]:
    """Return the calls that load a model without saying whether its code runs."""
    if not any(f"{name}(" in source for name in LOADERS):
        return []
    tree = ast.parse(source)
    said = {
        target.id
        for each in ast.walk(tree)
        if isinstance(each, (ast.Assign, ast.AnnAssign)) and each.value is not None
        for target in (each.targets if isinstance(each, ast.Assign) else [each.target])
        if isinstance(target, ast.Name) and "trust_remote_code" in ast.unparse(each.value)
    }
    said |= {
        each.name
        for each in ast.walk(tree)
        if isinstance(each, ast.FunctionDef) and "trust_remote_code" in ast.unparse(each)
    }
    found = []
    for call in (each for each in ast.walk(tree) if isinstance(each, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        says = any(each.arg == "trust_remote_code" or (each.arg is None and _name(each.value) in {*said, "shared"})
                   for each in call.keywords)  # fmt: skip
        if name in LOADERS and not says and ast.unparse(call.func) not in WITHOUT_CODE:
            found.append(f"line {call.lineno}: {ast.unparse(call)}")
    return found


def _name(value: ast.expr) -> str:
    """Return the name of what is spread into a call: a variable, or the function that makes it."""
    return getattr(value.func if isinstance(value, ast.Call) else value, "id", "")


def test_every_model_is_loaded_with_a_word_about_its_code():
    found = {str(file.relative_to(SOURCES)): silent_calls(file.read_text()) for file in SOURCES.rglob("*.py")}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_a_call_without_that_word_is_found():
    assert silent_calls("AutoTokenizer.from_pretrained(place, local_files_only=True)")
    assert silent_calls("options = {'a': 1}\nX.from_pretrained(place, **options)")
    assert not silent_calls("options = {'trust_remote_code': False}\nX.from_pretrained(place, **options)")
