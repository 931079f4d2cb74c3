"""Perspectrum: 907 claims in three splits, from its repository (Chen et al., 2019)."""

from functools import partial
from pathlib import Path

from berdseye.data.dataset_formats.perspectrum import read_perspectrum
from berdseye.data.pir_reformat.perspectrum import CLAIMS, SPLITS, claims_of
from berdseye.data.published_sets.part import Part, Read, RemoteFile, told_count

_HOME = "https://raw.githubusercontent.com/CogComp/perspectrum"
_FILES = tuple(
    RemoteFile(name, f"{_HOME}/{commit}/data/dataset/{name}", sha256)
    for name, commit, sha256 in (
        (
            CLAIMS,
            "0a8b13c1e4c78a07cc618df6a46f3153e7e3f40d",
            "39d0391d26ebe21efb1cc3162abcc3c4212d2eadfb07514129c3015d6f6ae1f1",
        ),
        (
            "perspective_pool_v1.0.json",
            "317ae35bdb09718024735d40eee54689d07d2b49",
            "d4d4e78c4777ea971d26546a8819aa9e02c5a68ffff45e10b40ca0cb91b43ae4",
        ),
        (
            SPLITS,
            "317ae35bdb09718024735d40eee54689d07d2b49",
            "5ba5296f6e5956c44a2fd014b15a3f7c10b9a253451162932acaf217f20cd7da",
        ),
    )
)
_CLAIMS_IN = {"train": 541, "dev": 139, "test": 227}


def _read(folder: Path, split: str) -> Read:
    imported = read_perspectrum(claims_of(folder / CLAIMS, split), folder / CLAIMS)
    return Read(imported, told_count(len(imported.questions), _CLAIMS_IN[split], "claims"))


def perspectrum_parts() -> dict[str, tuple[Part, ...]]:
    """A data set a split."""
    return {
        "perspectrum": tuple(Part(f"perspectrum-{split}", _FILES, partial(_read, split=split)) for split in _CLAIMS_IN)
    }
