"""Finding models, and telling one version of their files from another."""

from pathlib import Path

import huggingface_hub.constants
import pytest

from berdseye.data.errors import UnavailableError
from berdseye.data.models.weights import find_model, model_version


def made(folder: Path, weights: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    return folder


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BERDSEYE_MODELS", str(tmp_path / "models"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "models"


def test_a_path_comes_first_then_the_folder_of_models_then_the_hub(models: Path, tmp_path: Path) -> None:
    assert find_model("org/name") == "org/name"
    below = made(models / "org" / "name")
    assert find_model("org/name") == below
    here = made(tmp_path / "org" / "name")
    assert find_model("org/name") == here
    assert find_model(str(below)) == below


def test_a_gguf_file_or_a_folder_with_one(models: Path) -> None:
    models.mkdir()
    (models / "small.gguf").write_bytes(b"GGUF")
    assert find_model("small.gguf") == models / "small.gguf"
    assert find_model(str(models)) == models


def test_a_folder_that_only_has_the_name_of_a_model_is_none(models: Path, tmp_path: Path) -> None:
    del models
    (tmp_path / "gpt2").mkdir()
    assert find_model("gpt2") == "gpt2"


@pytest.mark.parametrize(
    "name",
    ["./nothing", "/nowhere/at/all", "a/b/c", "", "~/nothing", "two words", "~nobody-here/x", "x" * 5000 + "/y/z"],
)
def test_a_path_without_a_model(models: Path, name: str) -> None:
    del models
    with pytest.raises(UnavailableError, match=r"There is no model at .* put the folder below \$BERDSEYE_MODELS"):
        find_model(name)


def test_versions_depend_on_the_files_and_not_on_their_folder(tmp_path: Path) -> None:
    one, same, other = made(tmp_path / "1"), made(tmp_path / "2"), made(tmp_path / "3", b"Weights")
    (same / "README.md").write_text("Words about the model.")
    assert model_version(one) == model_version(same) != model_version(other)
    assert len(model_version(one)) == 12
    (one / "model.safetensors").write_bytes(b"weight5")
    assert model_version(one) not in {model_version(same), model_version(other)}
    assert model_version(one / "config.json") == model_version(other / "config.json")


def test_a_hub_that_is_out_of_reach_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UnavailableError, match="Model 'berdseye-tests/none' cannot be loaded"):
        model_version("berdseye-tests/none")
