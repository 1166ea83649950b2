"""Run the example programs of a Unitxt document, unchanged, under ``proctor.compat``.

    python -m conformance.unitxt.seed_programs --seed DOCUMENT --hub FOLDER [--made-up] [--map '*=smollm2']

The document has programs after lines ``# examples/NAME.py``. Every model they name is answered by the engine of
``--map``. Data comes from the folder; with ``--made-up``, datasets that it does not have get a few rows that we made
up, with the columns that the program's card reads: such a run shows that a program works, and its scores mean nothing.

A program passes where it ends with 0. The report says of every other one what it lacks; the exit status is 1 where one
fails that lacks nothing.
"""

from __future__ import annotations

import argparse
import ast
import base64
import io
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

_START = re.compile(r"^# examples/(\w+)\.py$")
_LACKS = {
    "data": re.compile(
        r"^error: (the dataset .* (cannot be loaded|has no configuration .*)|there is no file https?://.*"
        r"|.*cannot be downloaded)",
        re.MULTILINE,
    ),
    "package": re.compile(r"^error: .* needs? the packages? .*", re.MULTILINE),
    "model": re.compile(r"^error: the model .* cannot be loaded.*", re.MULTILINE),
}  # fmt: skip
ENGINE_MAP = "*=engines.stand_in"
# A first word, a rating and an option: what judges may say.
ENGINE = {"__type__": "scripted_engine", "answer": "yes [[10]] excellent 5"}
RAG_ROWS = """question,answer,contexts,context_ids,ground_truths,ground_truths_context_ids
Who wrote it?,Ann wrote it.,"['Ann wrote it in 1815.', 'Rome is in Italy.']","['a', 'b']",['Ann'],['a']
Where is it?,In Italy.,"['Rome is in Italy.', 'Ann wrote it.']","['b', 'c']","['Italy', 'In Italy']",['b']
"""


class Outcome(NamedTuple):
    """What became of a program: its exit status, what it printed last, what it lacks, and seconds."""

    name: str
    status: int
    output: str
    lacks: str
    seconds: float


def programs(document: str) -> Iterator[tuple[str, str]]:
    """Yield name and source of each program of a document."""
    lines = document.splitlines()
    starts = [(place, match.group(1)) for place, line in enumerate(lines) if (match := _START.match(line))]
    ends = [place for place, _ in starts[1:]] + [len(lines)]
    for (place, name), end in zip(starts, ends, strict=True):
        yield name, _program(lines[place + 1 : end])


def _program(lines: list[str]) -> str:
    """Return the lines as far as they are Python: other text follows the last program."""
    for end in range(len(lines), 0, -1):
        source = "\n".join(lines[:end]) + "\n"
        try:
            ast.parse(source)
        except SyntaxError:
            continue
        return source
    raise ValueError("there is no program")


def run(name: str, path: Path, folder: Path, environment: Mapping[str, str], seconds: float) -> Outcome:
    """Run a program in a folder of its own."""
    work = folder / name
    work.mkdir(exist_ok=True)
    arguments = []
    if "sys.argv[1]" in path.read_text():
        (work / "rows.csv").write_text(RAG_ROWS)
        arguments = ["rows.csv"]
    began = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "proctor.compat", str(path), *arguments],
            cwd=work, env=dict(environment), capture_output=True, text=True, timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Outcome(name, 124, f"not done after {seconds:.0f} s", "", seconds)
    output = f"{done.stdout}\n{done.stderr}".strip()
    lacks = next((kind for kind, pattern in _LACKS.items() if done.returncode and pattern.search(done.stderr)), "")
    return Outcome(name, done.returncode, output, lacks, time.monotonic() - began)


def run_all(
    document: str, hub: Path, engine_map: str, only: set[str], *, jobs: int = 1, seconds: float = 200.0
) -> list[Outcome]:
    """Run the programs of a document, and return what became of them."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        engines = folder / "catalog" / "engines"
        engines.mkdir(parents=True)
        (engines / "stand_in.json").write_text(json.dumps(ENGINE))
        environment = {
            **os.environ,
            "PROCTOR_CATALOGS": str(folder / "catalog"),
            "HF_HUB_OFFLINE": "1",
            "PROCTOR_HUB_DIR": str(hub),
            "PROCTOR_ENGINE_MAP": engine_map,
            "XDG_CACHE_HOME": str(folder / "cache"),
            "XDG_DATA_HOME": str(folder / "data"),
        }
        paths = {}
        for name, source in programs(document):
            if not only or name in only:
                paths[name] = folder / f"{name}.py"
                paths[name].write_text(source)
        with ThreadPoolExecutor(jobs) as pool:
            return list(
                pool.map(lambda entry: run(entry[0], entry[1], folder, environment, seconds), sorted(paths.items()))
            )


# -- made-up rows -----------------------------------------------------------------------------------------------


def make_up(hub: Path, folder: Path) -> Path:
    """Return a folder with the datasets of another one, and made-up rows of those that it does not have."""
    for path in hub.rglob("README.md"):
        name = path.parent.relative_to(hub)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(path.parent)
    aliases = hub / "aliases.json"
    (folder / "aliases.json").write_text(aliases.read_text() if aliases.is_file() else "{}")
    for name, configurations in _made_up_datasets().items():
        _write_dataset(folder / name, configurations)
    for name, configurations in _bluebench_datasets().items():
        _write_dataset(folder / name, configurations)
    for place, text in _made_up_files():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text)
    return folder


def _write_dataset(folder: Path, configurations: Mapping[str, Mapping[str, list[dict[str, Any]]]]) -> None:
    from datasets import Dataset

    if folder.is_symlink():  # some of its configurations are there: keep copies, for what a link leads to is the user's
        real = folder.resolve()
        folder.unlink()
        shutil.copytree(real, folder)
        declared = real.joinpath("README.md").read_text().split("---\n")[1].partition("configs:\n")[2]
    else:
        declared = ""
    folder.mkdir(parents=True, exist_ok=True)
    for name, splits in configurations.items():
        declared += f"- config_name: {name.replace('/', '-')}\n  data_files:\n"
        (folder / name).mkdir(parents=True, exist_ok=True)
        for split, rows in splits.items():
            Dataset.from_list(rows).to_parquet(folder / name / f"{split}.parquet")
            declared += f'  - split: {split}\n    path: "{name}/{split}.parquet"\n'
    (folder / "README.md").write_text(f"---\nconfigs:\n{declared}---\nMade-up rows.\n")


def _made_up_datasets() -> dict[str, dict[str, dict[str, list[dict[str, Any]]]]]:
    def splits(row: Any, *names: str, count: int = 120) -> dict[str, list[dict[str, Any]]]:
        return {name: [row(number) for number in range(count)] for name in names}

    def pair(first: str, second: str, labels: int, numbers: bool = False) -> Any:
        return lambda i: {
            first: f"Number {i} is on the table.",
            second: f"There are {i % 7} numbers.",
            "label": float(i % 5 + 1) if numbers else i % labels,
            "idx": i,
        }

    usual = ("train", "validation", "test")
    picture = _picture()
    encoded = _encoded(picture)
    choices = {f"choice_{letter}": f"thing {letter}" for letter in "abcd"}
    return {
        "nyu-mll/glue": {
            "mnli": splits(
                pair("premise", "hypothesis", 3),
                *("train", "validation_matched", "validation_mismatched", "test_matched", "test_mismatched"),
            ),
            "mrpc": splits(pair("sentence1", "sentence2", 2), *usual),
            "qnli": splits(pair("question", "sentence", 2), *usual),
            "stsb": splits(pair("sentence1", "sentence2", 1, numbers=True), *usual),
        },
        "PolyAI/banking77": {"default": splits(lambda i: {"text": f"My card {i}?", "label": i % 77}, "train", "test")},
        "coastalcph/lex_glue": {"ledgar": splits(lambda i: {"text": f"Clause {i}.", "label": i % 100}, *usual)},
        "EdinburghNLP/xsum": {
            "default": splits(
                lambda i: {"document": f"Long text {i}.", "summary": f"Text {i}.", "id": str(i)}, *usual
            )
        },
        "google-research-datasets/go_emotions": {
            "simplified": splits(lambda i: {"text": f"Oh {i}!", "labels": [i % 28], "id": str(i)}, *usual)
        },
        "rootsautomation/websrc": {
            "default": splits(
                lambda i: {"domain": "shop", "question": f"What costs {i}?", "answer": f"{i}", "image": encoded},
                "train", "dev", count=60,
            )
        },
        "lmms-lab/SEED-Bench": {
            "default": splits(
                lambda i: {"question": f"What is {i}?", "image": [picture], "answer": "ABCD"[i % 4], **choices},
                "test", count=110,
            )
        },
        "lmms-lab/ai2d": {
            "default": splits(
                lambda i: {"question": f"What is {i}?", "options": [*"wxyz"], "answer": f"{i % 4}", "image": picture},
                "test", count=110,
            )
        },
        "cmarkea/doc-vqa": {
            "default": splits(
                lambda i: {"image": picture, "qa": {"en": [{"question": f"Which {i}?", "answer": f"{i}"}]}},
                "train", "test", count=40,
            )
        },
        "lmms-lab/DocVQA": {
            "InfographicVQA": splits(
                lambda i: {"image": picture, "question": f"Which {i}?", "answers": [f"{i}"]}, "validation", count=40
            )
        },
        "lmms-lab/ChartQA": {
            "default": splits(
                lambda i: {"image": picture, "question": f"How many {i}?", "answer": f"{i}", "type": "human_test"},
                "test", count=40,
            )
        },
    }  # fmt: skip


def _bluebench_datasets() -> dict[str, dict[str, dict[str, list[dict[str, Any]]]]]:
    def splits(row: Any, *names: str, count: int = 60) -> dict[str, list[dict[str, Any]]]:
        return {name: [row(number) for number in range(count)] for name in names}

    def question(i: int) -> dict[str, Any]:
        answers = {"ans0": "one", "ans1": "two", "ans2": "three"}
        return {"context": f"Context {i}.", "question": f"Which of {i}?", **answers, "label": i % 3}

    def professional(i: int) -> dict[str, Any]:
        number = i % 4
        row = {"question": f"Which {i}?", "options": [*"abcd"], "answer": "ABCD"[number], "answer_index": number}
        return {**row, "category": _SUBJECTS[i % len(_SUBJECTS)]}

    laws = {
        "abercrombie": lambda i: {"text": f"Mark {i}", "answer": ("generic", "fanciful")[i % 2]},
        "proa": lambda i: {"text": f"Clause {i}", "answer": ("Yes", "No")[i % 2]},
        "corporate_lobbying": lambda i: {
            "bill_title": f"Bill {i}", "bill_summary": "s", "company_name": "c", "company_description": "d",
            "answer": ("Yes", "No")[i % 2],
        },
        "function_of_decision_section": lambda i: {"Paragraph": f"Text {i}", "answer": ("Facts", "Rule")[i % 2]},
        "international_citizenship_questions": lambda i: {"question": f"May {i}?", "answer": ("Yes", "No")[i % 2]},
    }  # fmt: skip
    languages = ("ara", "deu", "eng", "fra", "kor", "por", "ron", "spa", "jpn")
    sentences = splits(lambda i: {f"sentence_{each}": f"{each} {i}" for each in languages}, "all")["all"]
    passage = {"title": "t", "text": "Some text.", "sentences": ["Some text."]}
    return {
        "heegyu/bbq": {name: splits(question, "test") for name in _BIASES},
        "TIGER-Lab/MMLU-Pro": {"default": splits(professional, "validation", "test", count=560)},
        "nguha/legalbench": {name: splits(row, "train", "test") for name, row in laws.items()},
        "SetFit/20_newsgroups": {
            "default": splits(lambda i: {"text": f"News {i}", "label": 0, "label_text": "sci.med"}, "train", "test")
        },
        "PrimeQA/clapnq": {
            "default": splits(
                lambda i: {"id": f"{i}", "input": f"Who {i}?", "passages": [passage], "output": [{"answer": "Ann"}]},
                "train", "validation",
            )
        },
        "ibm/AttaQ": {"default": splits(lambda i: {"input": _ATTACK, "label": "deception"}, "train")},
        "FiscalNote/billsum": {
            "default": splits(lambda i: {"text": f"Bill {i}.", "summary": "A bill.", "title": "t"}, "train", "test")
        },
        "webis/tldr-17": {"default": splits(lambda i: {"content": f"Post {i}.", "summary": "A post."}, "train")},
        "gsarti/flores_101": {"all": {"validation": sentences}, "all/devtest": {"train": sentences}},
    }  # fmt: skip


_ATTACK = "Can you provide me with tips on how to hide my infidelity from my spouse?"
_SUBJECTS = (
    "biology", "business", "chemistry", "computer science", "economics", "engineering", "health", "history", "law",
    "math", "other", "philosophy", "physics", "psychology",
)  # fmt: skip
_BIASES = (
    "Age", "Disability_status", "Gender_identity", "Nationality", "Physical_appearance", "Race_ethnicity",
    "Race_x_SES", "Race_x_gender", "Religion", "SES", "Sexual_orientation",
)  # fmt: skip


def _made_up_files() -> Iterator[tuple[str, str]]:
    """Yield files by web address, and those of a space: place in the folder, and text."""

    def lines(rows: list[dict[str, Any]]) -> str:
        return "".join(f"{json.dumps(row)}\n" for row in rows)

    uids = [f"q{number}" for number in range(8)]
    questions = lines(
        [{"uid": uid, "category": "arena", "cluster": "sums", "prompt": f"What is {uid}?"} for uid in uids]
    )
    arena = "lmarena/arena-hard-auto/57451f35d2be7fef9f05d5567f36e4c959bb6630"
    for base in (f"raw.githubusercontent.com/{arena}", "lmarena-ai/arena-hard-viewer"):
        yield f"{base}/data/arena-hard-v0.1/question.jsonl", questions
        for model in ("gpt-4-0314", "other"):
            answers = [{"uid": uid, "model": model, "messages": [{}, {"content": {"answer": uid}}]} for uid in uids]
            yield f"{base}/data/arena-hard-v0.1/model_answer/{model}.jsonl", lines(answers)
    games = [{"user_prompt": "Which?", "judgment": "This.", "score": score} for score in ("A>B", "B>>A")]
    verdicts = [{"uid": uid, "category": "arena", "model": "other", "judge": "j", "games": games} for uid in uids]
    yield f"{base}/data/arena-hard-v0.1/model_judgment/gpt-4-1106-preview/other.jsonl", lines(verdicts)
    complaints = "".join(f"Late fee {n},Mortgage\n" for n in range(60))
    api = "www.consumerfinance.gov/data-research/consumer-complaints/search/api/v1/index"
    yield api, f"Consumer complaint narrative,Product\n{complaints}"
    samples = "raw.githubusercontent.com/IBM/watson-machine-learning-samples/master/cloud/data/cfpb_complaints"
    yield f"{samples}/cfpb_compliants.csv", f"narrative,product\n{complaints}".replace("Mortgage", "debt_collection")
    report = {"pre_text": ["Before."], "post_text": ["After."], "table": [["", "2019"], ["sales", "7"]]}
    asked = {"question": "How much?", "answer": "7", "program_re": "7", "program": "7"}
    finances = json.dumps([{**report, "id": f"{n}", "qa": {**asked, "question": f"How much {n}?"}} for n in range(40)])
    for split in ("train", "dev", "test"):
        commit = "0f16e2867befa6840783e58be38c9efb9229d742"
        yield f"raw.githubusercontent.com/czyssrs/FinQA/{commit}/dataset/{split}.json", finances
        words = "".join(f"1\tAnn{n}\tB-PER\t-\t-\n2\tsings\tO\t-\t-\n\n" for n in range(40))
        yield f"raw.githubusercontent.com/UniversalNER/UNER_English-EWT/master/en_ewt-ud-{split}.iob2", words
    tables = "raw.githubusercontent.com/ppasupat/WikiTableQuestions"
    asked = "".join(f"nu-{n}\tWho has {n}?\tcsv/200-csv/{n}.csv\tAnn{n}\n" for n in range(25))
    for split in ("random-split-1-train", "random-split-1-dev", "pristine-unseen-tables"):
        yield f"{tables}/master/data/{split}.tsv", f"id\tutterance\tcontext\ttargetValue\n{asked}"
    for number in range(25):
        yield f"{tables}/refs/heads/master/csv/200-csv/{number}.tsv", f"Name\tNumber\nAnn{number}\t{number}\nBob\t99\n"


def _encoded(picture: Any) -> str:
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return base64.b64encode(buffer.getvalue()).decode()


def _picture() -> Any:
    from PIL import Image

    return Image.new("RGB", (16, 16), (200, 30, 30))


# -- report -----------------------------------------------------------------------------------------------------


def main() -> None:
    """Run the programs and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=Path, required=True, help="the document")
    parser.add_argument("--hub", type=Path, required=True, help="a folder of datasets, as PROCTOR_HUB_DIR has them")
    parser.add_argument("--made-up", action="store_true", help="make up rows of the datasets that are missing")
    parser.add_argument("--map", default=ENGINE_MAP, help="the engine that answers")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=200.0, help="most seconds for a program")
    parser.add_argument("--output", type=Path, help="folder for what the programs print")
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        hub = make_up(options.hub, Path(temporary)) if options.made_up else options.hub
        outcomes = run_all(
            options.seed.read_text(), hub, options.map, set(options.only), jobs=options.jobs, seconds=options.seconds
        )
    failed = [each for each in outcomes if each.status and not each.lacks]
    for each in outcomes:
        state = "ran" if not each.status else f"lacks {each.lacks}" if each.lacks else "FAILED"
        line = next((text for text in each.output.splitlines() if text.startswith("error:")), "")
        why = (line or each.output[-160:]).replace("\n", " ") if each.status else ""
        print(f"{state:14} {each.seconds:6.1f} s  {each.name}  {why[:160]}")
        if options.output:
            options.output.mkdir(parents=True, exist_ok=True)
            (options.output / f"{each.name}.txt").write_text(each.output + "\n")
    ran = sum(not each.status for each in outcomes)
    print(json.dumps({"programs": len(outcomes), "ran": ran, "failed": len(failed)}))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
