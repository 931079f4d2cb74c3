"""Weights from strangers: a pickle in them runs nothing, whoever opens the model."""

import pickle
import re
import zipfile
from pathlib import Path

import numpy as np
import pytest
import tiny_models
import torch

from berdseye.data.errors import BerdseyeError
from berdseye.evaluation.studies.gathering import np as ranking_numpy
from berdseye.retrieval.encoders.encoder_registry import open_encoder


class Attack:
    """Makes a file when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str, str]]:
        return open, (str(self.mark), "w")


def hostile(path: Path, mark: Path, form: str) -> None:
    if form == "pickle":
        path.write_bytes(pickle.dumps(Attack(mark)))
    elif form == "zip":  # as torch.save writes it today
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("archive/data.pkl", pickle.dumps(Attack(mark)))
            archive.writestr("archive/version", "3\n")
            archive.writestr("archive/byteorder", "little")
    else:
        torch.save({"a": Attack(mark)}, path, _use_new_zipfile_serialization=False)


@pytest.mark.parametrize("form", ["pickle", "zip", "old"])
def test_a_pickle_among_the_weights_runs_nothing(tmp_path: Path, form: str) -> None:
    folder, mark = tiny_models.bert(tmp_path / "model"), tmp_path / "mark"
    (folder / "model.safetensors").unlink()
    hostile(folder / "pytorch_model.bin", mark, form)
    with pytest.raises(BerdseyeError, match=re.escape(str(folder))):
        open_encoder(str(folder)).encode_queries(["a"])
    assert not mark.exists()
    with pytest.raises(Exception):  # noqa: B017  torch has several
        torch.load(folder / "pytorch_model.bin", weights_only=True)
    assert not mark.exists()


def test_the_attack_works_where_pickles_are_opened(tmp_path: Path) -> None:
    hostile(tmp_path / "a.bin", tmp_path / "mark", "pickle")
    pickle.loads((tmp_path / "a.bin").read_bytes()).close()
    assert (tmp_path / "mark").exists()


def test_arrays_with_objects_are_not_read(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([Attack(tmp_path / "mark")], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        ranking_numpy.load(tmp_path / "a.npy")
    assert not (tmp_path / "mark").exists()


def test_no_code_of_ours_unpickles() -> None:
    root = Path(__file__).resolve().parents[3]
    for folder in ("annotation", "app", "data", "detectors", "evaluation", "retrieval"):
        for path in (root / folder).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for word in ("import pickle", "joblib", "allow_pickle=True", "weights_only=False", "yaml.load(", "shelve"):
                assert word not in text, (path, word)
