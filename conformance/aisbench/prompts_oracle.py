"""Prompts of the real AISBench, or of OpenCompass: ``python prompts_oracle.py SYSTEM CASES.json ANSWERS.json``.

SYSTEM is ``aisbench``, ``opencompass``, or ``retrievers`` for the choices of OpenCompass's retrievers.

Run by an interpreter that has AISBench (and mmengine). OpenCompass is read from the unpacked wheel that
``OPENCOMPASS_DIR`` names; what it imports and this environment lacks is replaced by empty modules, since nothing of it is
needed for prompts.
"""

import importlib.machinery
import json
import os
import sys
import types
import warnings
from pathlib import Path

sys.path.pop(0)  # this folder has modules with the names of packages


class _Anything:
    """Stands for any name of a module that is not installed."""

    def __init__(self, *args, **kwargs):
        pass

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Anything()

    def __call__(self, *args, **kwargs):
        return args[0] if len(args) == 1 and callable(args[0]) and not kwargs else _Anything()

    def __mro_entries__(self, bases):
        return (_Anything,)


class _Missing:
    """Finds modules that are not installed, and gives them any name that is asked of them."""

    def find_spec(self, name, path=None, target=None):
        del path, target
        frame = sys._getframe(1)  # noqa: SLF001 - who asks decides
        while frame is not None and "importlib" in frame.f_code.co_filename:
            frame = frame.f_back
        asks = "" if frame is None else frame.f_code.co_filename
        if "/opencompass/" not in asks or name.startswith("opencompass"):
            return None  # other packages look for what they can do without
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__getattr__ = lambda name: _raise(name) if name.startswith("__") else _Anything()
        return module

    def exec_module(self, module):
        module.__path__ = []


def _raise(name):
    raise AttributeError(name)


class _Dataset:
    """What retrievers need to know of a dataset."""

    abbr = "case"

    def __init__(self, case):
        self.reader = types.SimpleNamespace(
            input_columns=case["reader"]["input_columns"],
            output_column=case["reader"].get("output_column"),
            generate_input_field_corpus=lambda rows: [
                " ".join(str(row[name]) for name in case["reader"]["input_columns"]) for row in rows
            ],
        )
        self.train, self.test = _Rows(case["index"]), _Rows(case["test"])


class _Rows(list):
    """Rows that give a column, too."""

    def __getitem__(self, key):
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)


def _plain(value):
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value


class AISBench:
    """AISBench's classes."""

    def __init__(self):
        from ais_bench.benchmark.models.api_models.base_api import APITemplateParser
        from ais_bench.benchmark.models.local_models.base import LMTemplateParser
        from ais_bench.benchmark.openicl import icl_prompt_template, icl_retriever
        from ais_bench.benchmark.openicl.icl_retriever.icl_random_retriever import RandomRetriever

        self.parsers = {"lm": LMTemplateParser, "api": APITemplateParser}
        self.retrievers = {"RandomRetriever": RandomRetriever}
        for name in ("ZeroRetriever", "FixKRetriever"):
            self.retrievers[name] = getattr(icl_retriever, name)
        self.templates = icl_prompt_template

    def maker(self, case):
        """Return the positions of examples, and functions that make prompts."""
        given = dict(case["retriever"])
        kind = self.retrievers[given.pop("type")]
        retriever = kind(_Dataset(case), ice_template=case.get("ice"), prompt_template=case.get("prompt"), **given)
        return (
            retriever.retrieve(),
            retriever.generate_ice,
            retriever.generate_prompt_for_generate_task,
            retriever.generate_label_prompt,
        )


class OpenCompass:
    """OpenCompass's classes."""

    def __init__(self):
        sys.path.insert(0, os.environ["OPENCOMPASS_DIR"])
        sys.meta_path.append(_Missing())
        from opencompass.models.base import LMTemplateParser
        from opencompass.models.base_api import APITemplateParser
        from opencompass.openicl.icl_prompt_template import PromptTemplate
        from opencompass.openicl.icl_raw_prompt_template import RawPromptTemplate
        from opencompass.openicl.icl_retriever import icl_bm25_retriever
        from opencompass.openicl.icl_retriever.icl_fix_k_retriever import FixKRetriever
        from opencompass.openicl.icl_retriever.icl_random_retriever import RandomRetriever
        from opencompass.openicl.icl_retriever.icl_sliding_k_retriever import SlidingWindowRetriever
        from opencompass.openicl.icl_retriever.icl_zero_retriever import ZeroRetriever

        icl_bm25_retriever.word_tokenize = str.split  # NLTK's data is not here
        self.parsers = {"lm": LMTemplateParser, "api": APITemplateParser}
        self.templates = {"PromptTemplate": PromptTemplate, "RawPromptTemplate": RawPromptTemplate}
        self.retrievers = {
            each.__name__: each
            for each in (
                FixKRetriever, RandomRetriever, SlidingWindowRetriever, ZeroRetriever, icl_bm25_retriever.BM25Retriever
            )
        }  # fmt: skip

    def _template(self, config):
        if config is None:
            return None
        given = dict(config)
        return self.templates[given.pop("type")](**given)

    def maker(self, case):
        """Return the positions of examples, and functions that make prompts."""
        given = dict(case["retriever"])
        retriever = self.retrievers[given.pop("type")](_Dataset(case), **given)
        ice, prompt = self._template(case.get("ice")), self._template(case.get("prompt"))
        both = {"ice_template": ice, "prompt_template": prompt}
        return (
            retriever.retrieve(),
            lambda places: retriever.generate_ice(places, ice_template=ice),
            lambda place, shown: retriever.generate_prompt_for_generate_task(place, shown, **both),
            lambda place, shown, label: retriever.generate_label_prompt(place, shown, label, **both),
        )


def answer(system, case):
    """Return the prompts of a case: for every parser and row what it made, or the error."""
    try:
        places, examples, generate, labelled = system.maker(case)
        shown = [examples(each) for each in places]
    except Exception as error:  # noqa: BLE001 - the error is the answer
        return {"error": f"{type(error).__name__}: {error}"[:300]}
    made = {"places": _plain(places)}
    for parser in case["parsers"]:
        parse = system.parsers[parser["kind"]](parser["meta"]).parse_template
        for place in range(len(case["test"])):
            for label in case.get("labels") or [None]:
                try:
                    prompt = generate(place, shown[place]) if label is None else labelled(place, shown[place], label)
                    value = _plain(parse(prompt, mode="gen" if label is None else "ppl"))
                except Exception as error:  # noqa: BLE001 - the error is the answer
                    value = {"error": f"{type(error).__name__}: {error}"[:300]}
                made[f"{parser['name']} {place} {label}"] = value
    return made


def choices(given):
    """Return what OpenCompass's retrievers choose, as far as they do not draw at random."""
    import numpy as np

    OpenCompass()
    from opencompass.openicl.icl_retriever import icl_bm25_retriever, icl_dpp_retriever, icl_votek_retriever

    def cosines(left, right):
        lengths = [np.linalg.norm(each, axis=1, keepdims=True) for each in (left, right)]
        return (left / lengths[0]) @ (right / lengths[1]).T

    icl_votek_retriever.cosine_similarity = cosines  # scikit-learn is not here
    icl_votek_retriever.random = types.SimpleNamespace(sample=lambda rest, count: [])
    select = icl_votek_retriever.VotekRetriever.votek_select
    bm25 = []
    for each in given["bm25"]:
        index = icl_bm25_retriever.BM25Okapi([text.split() for text in each["index"]])
        bm25.append([index.get_scores(query.split()).tolist() for query in each["queries"]])
    embeddings = [np.array(each, dtype=np.float32) for each in given["votek"]]
    return {
        "bm25": bm25,
        "votek": [select(None, each, select_num=4, k=3, overlap_threshold=1) for each in embeddings],
        "dpp": [icl_dpp_retriever.fast_map_dpp(np.array(each), min(len(each), 5)) for each in given["dpp"]],
    }


def main():
    """Answer every case."""
    warnings.simplefilter("ignore")
    name, cases, answers = sys.argv[1:]
    if name == "retrievers":
        Path(answers).write_text(json.dumps(choices(json.loads(Path(cases).read_text()))))
        return
    system = {"aisbench": AISBench, "opencompass": OpenCompass}[name]()
    found = [answer(system, case) for case in json.loads(Path(cases).read_text())]
    Path(answers).write_text(json.dumps(found))


if __name__ == "__main__":
    main()
