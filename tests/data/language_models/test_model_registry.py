"""Names of language models."""

import pytest

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.language_models.api import ApiModel
from berdseye.data.language_models.cost import Price
from berdseye.data.language_models.local import LocalModel
from berdseye.data.language_models.model_registry import open_language_model
from berdseye.data.workspace import Workspace


def with_settings(workspace: Workspace, text: str) -> Workspace:
    (workspace.folder / "berdseye.toml").write_text(text)
    return Workspace.open(workspace.folder)


def test_names_are_canonical(workspace: Workspace) -> None:
    for name in ("api(gpt-4o-mini)", "local(HuggingFaceTB/SmolLM2-135M-Instruct)", 'local("my models/one")'):
        assert open_language_model(name, workspace).name == name
    assert isinstance(open_language_model("api(a)", workspace), ApiModel)
    assert isinstance(open_language_model("local(a)", workspace), LocalModel)


def test_llm_is_the_one_that_the_workspace_sets(workspace: Workspace) -> None:
    with pytest.raises(UnavailableError, match=r"has no default language model\. Write default = "):
        open_language_model("llm", workspace)
    workspace = with_settings(workspace, '[language_models]\ndefault = "api(gpt-4o-mini)"')
    assert open_language_model("llm", workspace).name == "api(gpt-4o-mini)"
    with pytest.raises(BadInputError, match="must not have arguments"):
        open_language_model("llm(gpt)", workspace)
    with pytest.raises(UnknownNameError, match="Unknown language model 'llm'"):
        open_language_model("llm", with_settings(workspace, '[language_models]\ndefault = "llm"'))


def test_prices_belong_to_models(workspace: Workspace) -> None:
    workspace = with_settings(workspace, "[language_models.prices]\n'gpt-4o-mini' = [0.15, 1]\nodd = 'free'\nnew = [1]")
    priced, unpriced = (open_language_model(f"api({name})", workspace) for name in ("gpt-4o-mini", "other"))
    assert isinstance(priced, ApiModel)
    assert isinstance(unpriced, ApiModel)
    assert (priced.price, unpriced.price) == (Price(0.15, 1.0), None)
    for name in ("odd", "new"):
        with pytest.raises(BadInputError, match=f"The price of '{name}' must be two numbers"):
            open_language_model(f"api({name})", workspace)


def test_settings_of_the_wrong_kind(workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match=r"'prices' in \[language_models\] must be a table"):
        with_settings(workspace, "[language_models]\nprices = 'none'")
    with pytest.raises(BadInputError, match=r"'default' in \[language_models\] must be a text"):
        with_settings(workspace, "[language_models]\ndefault = 3")


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("apy(gpt)", UnknownNameError, "Did you mean api"),
        ("api", BadInputError, "does not name one model"),
        ("api(a,b)", BadInputError, "does not name one model"),
        ("local(a,device=cpu)", BadInputError, "does not name one model"),
        ("api(a)@5", BadInputError, "does not name one model"),
        ("api(a) >> api(b)", BadInputError, "more than one language model"),
    ],
)
def test_wrong_names_are_reported(workspace: Workspace, name: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as error:
        open_language_model(name, workspace)
    assert said in str(error.value)
