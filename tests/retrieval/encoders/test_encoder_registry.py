"""From names to encoders, and what is said where there is none."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tiny_models

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.models.static_embedding import static_embedding
from berdseye.data.records import Passage
from berdseye.retrieval.encoders.encoder_registry import (
    known_encoders,
    open_cross_encoder,
    open_encoder,
    open_sparse_encoder,
)
from berdseye.retrieval.encoders.known_models import CROSS, DENSE, LATE, SPARSE

ROOT = Path(__file__).parents[3]


def test_the_tables_are_sound() -> None:
    rows = known_encoders()
    assert rows == DENSE + SPARSE + LATE + CROSS
    for names in ([row.name for row in rows], [row.short_name for row in rows]):
        assert len(set(names)) == len(names)
    for row in rows:
        assert "/" in row.name
        assert row.licence
        assert row.source
        assert 0 < (row.query_length or 1) <= row.max_length


def test_static_is_the_embedding_that_ships() -> None:
    encoder, plain = open_encoder("static"), static_embedding()
    assert (encoder.name, encoder.version, encoder.dimension) == ("static", plain.version, plain.dimension)
    passages = [Passage(0, "a", "Zoos", "are cruel"), Passage(1, "b", "", "Trams")]
    assert np.array_equal(encoder.encode_passages(passages), plain.encode(["Zoos are cruel", "Trams"]))
    assert np.array_equal(encoder.encode_queries(["a\ud800", ""]), plain.encode(["a?", ""]))
    assert encoder.encode_queries([]).shape == (0, plain.dimension)


@pytest.mark.parametrize("name", ["contriever", "facebook/contriever", "PATH"])
def test_all_ways_to_name_a_model_lead_to_it(name: str, models: Path) -> None:
    """By its short name, its full name and its folder; the folder's name tells which row of the table is meant."""
    folder = tiny_models.bert(models / "facebook" / "contriever" if "/" in name else models / "contriever")
    encoder = open_encoder(name.replace("PATH", str(folder)))
    assert encoder.name == (str(folder) if name == "PATH" else "facebook/contriever")
    assert encoder.similarity == "dot"
    assert encoder is open_encoder(name.replace("PATH", str(folder)))


def test_a_passage_tower_lies_beside_its_query_tower(tmp_path: Path) -> None:
    tiny_models.dpr(tmp_path, "dpr-question_encoder-multiset-base", "dpr-ctx_encoder-multiset-base")
    folder = tmp_path / "dpr-question_encoder-multiset-base"
    assert open_encoder(str(folder)).encode_passages([Passage(0, "a", "t", "p")]).shape == (1, 16)


@pytest.mark.parametrize(
    ("kind", "name", "near"),
    [
        (open_encoder, "contreiver-msmarco", "contriever-msmarco"),
        (open_encoder, "facebook/tart-dual-contriever-msmarco", "orionweller/tart-dual-contriever-msmarco"),
        (open_encoder, "intfloat/e5-base-v3", "intfloat/e5-base-v2"),
        (open_sparse_encoder, "naver/splade-v2-max", "naver/splade_v2_max"),
        (open_cross_encoder, "ms-marco-MiniLM-L6", "ms-marco-MiniLM-L6-v2"),
    ],
)
def test_misspelt_names_are_answered_with_right_ones(kind: object, name: str, near: str) -> None:
    with pytest.raises(UnknownNameError, match=near):
        kind(name)  # type: ignore[operator]


@pytest.mark.parametrize("name", ["nobody-made-this", "nobody/made-this", "facebook/contriever"])
def test_models_that_are_nowhere(name: str, models: Path) -> None:
    with pytest.raises(UnavailableError, match="BERDSEYE_MODELS") as error:
        open_encoder(name)
    assert name in str(error.value)
    assert str(models) in str(error.value)
    assert "\n" not in str(error.value)


def test_paths_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="There is no model at"):
        open_encoder(str(tmp_path / "nothing" / "here"))
    file = tmp_path / "model.gguf"
    file.write_bytes(b"")
    with pytest.raises(BadInputError, match="a folder, not a file"):
        open_encoder(str(file))


def test_code_of_a_model_is_not_run_unasked(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = models / "strange"
    folder.mkdir()
    auto = {"AutoConfig": "code.Config", "AutoModel": "code.Model"}
    (folder / "config.json").write_text(json.dumps({"model_type": "strange", "auto_map": auto}))
    (folder / "code.py").write_text("raise RuntimeError('the code of the model was run')")
    with pytest.raises(UnavailableError, match="BERDSEYE_REMOTE_CODE=strange"):
        open_encoder("strange")
    monkeypatch.setenv("BERDSEYE_REMOTE_CODE", "other, strange")
    with pytest.raises(UnavailableError, match="the code of the model was run"):
        open_encoder("strange")


def test_naming_encoders_imports_nothing_heavy() -> None:
    code = (
        "import sys, berdseye.retrieval.encoders.encoder_registry as r; r.known_encoders();"
        "print([m for m in ('torch', 'transformers', 'sentence_transformers', 'openai') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[]"


def test_opening_says_nothing(models: Path, capfd: pytest.CaptureFixture[str]) -> None:
    tiny_models.bert(models / "contriever")
    tiny_models.masked_bert(models / "splade_v2_max")
    tiny_models.classifying_bert(models / "ms-marco-MiniLM-L6-v2")
    capfd.readouterr()
    open_encoder("contriever").encode_queries(["zoos"])
    open_sparse_encoder("splade_v2_max").encode_queries(["zoos"])
    open_cross_encoder("ms-marco-MiniLM-L6-v2").score("zoos", [Passage(0, "a", "", "trams")])
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
