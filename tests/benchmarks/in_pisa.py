"""PISA (Mallia et al. 2019) as a benchmark's engine: the compiled module of the package pyterrier_pisa, without its Java.

    python -m venv peers && peers/bin/pip install --no-deps pyterrier_pisa==0.4.9 tbb==2020.3.254
    PYTHONPATH=peers/lib/python3.11/site-packages python -m pytest ...

PISA indexes stop words and tokens of one character, divides words at all but ASCII letters and digits, and stems by Porter2.
"""

import ctypes
import importlib.util
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Any

import numpy as np

ALGORITHMS = ("block_max_wand", "maxscore")
_BLOCK = 100_000  # texts
Search = Callable[[str, int], object]


def pisa() -> Any:
    """The compiled module; None where it is not installed."""
    try:
        module, library = _file("pyterrier_pisa", "_pisathon.cpython"), _file("tbb", "libtbb.so")
    except PackageNotFoundError:
        return None
    ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    spec = importlib.util.spec_from_file_location("_pisathon", module)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def in_pisa(folder: Path, batches: Iterable[list[str]]) -> dict[str, Search]:
    """An engine for each algorithm, over texts without line breaks; none where PISA is not installed."""
    engine = pisa()
    if engine is None:
        return {}
    folder.mkdir()
    count = 0
    with (folder / "texts").open("w", encoding="utf-8") as out:
        for count, text in enumerate((text for batch in batches for text in batch), 1):
            out.write(f"{count - 1} {text}\n")
    # PISA queues two blocks for each thread before it waits for one to be done. Where the process may use one core only,
    # nothing takes blocks from the queue until all are there, so that it would wait for ever.
    engine.index(str(folder / "texts"), str(folder), "porter2", _BLOCK, 1 + count // _BLOCK // 2)
    context = engine.RetrievalContext()
    engine.prepare_index(context, str(folder), "block_simdbp", "bm25", "porter2", bm25_k1=0.9, bm25_b=0.4)

    def search(algorithm: str) -> Search:
        def found(query: str, k: int) -> object:
            numbers, names = np.empty((2, k), dtype=np.int32), np.empty(k, dtype=object)
            scores = np.empty(k, dtype=np.float32)
            count = engine.retrieve(
                *(context, algorithm, [(0, query)]),
                **{"k": k, "threads": 1, "query_weighted": 0, "pretokenised": 0},
                **{"result_qidxs": numbers[0], "result_ranks": numbers[1]},
                **{"result_docnos": names, "result_scores": scores},
            )
            return names[:count], scores[:count]

        return found

    return {f"PISA {algorithm}": search(algorithm) for algorithm in ALGORITHMS}


def _file(package: str, beginning: str) -> Path:
    """The installed file of a package whose name begins so."""
    return Path(str(next(file for file in files(package) or () if file.name.startswith(beginning)).locate()))
