"""Names that AISBench's modules import from other packages: what tests of programs replace in them.

``mock.patch("ais_bench.benchmark.runners.local.subprocess.run")`` looks for ``subprocess`` there.
"""

from __future__ import annotations

from collections.abc import Mapping

_MODULES = """
absl aiohttp argparse ast asyncio base64 builtins collections concurrent contextlib copy csv curses cv2
dataclasses difflib docker faulthandler fcntl functools getpass glob gzip hashlib importlib inspect io
ipaddress itertools janus jieba json jsonlines langdetect litellm logging math mmap mmengine multiprocessing
nltk numpy orjson os pickle platform psutil queue random re regex requests resource shutil signal sqlite3 stat
statistics string struct subprocess sympy sys tabulate tempfile threading tiktoken time torch traceback
transformers unicodedata urllib uuid warnings yaml zipfile zlib
"""
_RENAMED = {
    "go": "plotly.graph_objects",
    "mp": "multiprocessing",
    "np": "numpy",
    "osp": "os.path",
    "pd": "pandas",
    "scb": "sacrebleu",
    "std_queue": "queue",
}
_NAMES = {
    "PIL": "Image ImageDraw",
    "abc": "ABC abstractmethod",
    "aiohttp": "ClientSession",
    "ast": "literal_eval",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "concurrent.futures": "ProcessPoolExecutor ThreadPoolExecutor as_completed",
    "copy": "deepcopy",
    "dataclasses": "dataclass",
    "datasets": "Dataset DatasetDict concatenate_datasets load_dataset load_from_disk",
    "datasets.utils.logging": "disable_progress_bar",
    "datetime": "datetime timedelta",
    "decimal": "Decimal",
    "enum": "Enum unique",
    "fnmatch": "fnmatch",
    "functools": "partial reduce",
    "fuzzywuzzy": "fuzz",
    "huggingface_hub": "hf_hub_download snapshot_download",
    "importlib.metadata": "entry_points",
    "inspect": "signature",
    "io": "BytesIO StringIO",
    "itertools": "combinations product",
    "mmengine.config": "Config ConfigDict",
    "mmengine.device": "is_npu_available",
    "mmengine.dist": "is_main_process",
    "mmengine.utils": "mkdir_or_exist",
    "modelscope": "MsDataset",
    "multiprocessing": "BoundedSemaphore Event Process Queue Value shared_memory",
    "nltk.metrics.scores": "f_measure",
    "nltk.translate": "meteor_score",
    "nltk.translate.bleu_score": "sentence_bleu",
    "nltk.translate.nist_score": "sentence_nist",
    "os": "environ",
    "packaging": "version",
    "pathlib": "Path",
    "plotly.subplots": "make_subplots",
    "rich.live": "Live",
    "rouge_score": "rouge_scorer scoring",
    "scipy.optimize": "linear_sum_assignment",
    "scipy.spatial.distance": "cdist",
    "scipy.stats": "hypergeom",
    "shutil": "copyfile",
    "threading": "Lock Timer",
    "torch.utils.data": "DataLoader",
    "tqdm": "tqdm trange",
    "transformers": "AutoConfig AutoModel AutoModelForCausalLM AutoProcessor AutoTokenizer PreTrainedTokenizerFast",
    "vllm": "LLM SamplingParams",
}

BORROWED: Mapping[str, str] = {
    **{name: name for name in _MODULES.split()},
    **_RENAMED,
    **{name: f"{module}:{name}" for module, names in _NAMES.items() for name in names.split()},
}
"""Where each name is; a name means the same in every module of the package."""
