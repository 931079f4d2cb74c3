"""Names of language models: `api(NAME)`, `local(NAME)`, and `llm`, the one that the workspace sets."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.grammar import Call, parse
from berdseye.data.language_models.api import ApiModel, Price
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.cost import Budget
from berdseye.data.language_models.local import LocalModel
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.workspace import Workspace

DEFAULT_MODEL = "llm"


def open_language_model(spec: str | Call, workspace: Workspace) -> LanguageModel:
    """The model of a name; nothing is loaded or asked yet.

    Raises `UnknownNameError` with the nearest right names, `UnavailableError` for `llm` where the workspace sets none.
    """
    call = spec if isinstance(spec, Call) else _only(parse(spec), spec)
    if call.name == DEFAULT_MODEL:
        call = _default(call, workspace)
    if call.name not in MODELS:
        raise UnknownNameError("language model", call.name, [*MODELS, DEFAULT_MODEL])
    if len(call.args) != 1 or call.kwargs or call.keep is not None or call.cutoff is not None:
        raise BadInputError(f"'{call}' does not name one model.", hint=f"Write it like {call.name}(NAME).")
    return MODELS[call.name](str(call.args[0]), workspace)


def _default(call: Call, workspace: Workspace) -> Call:
    if call != Call(DEFAULT_MODEL):
        raise BadInputError(
            f"'{call}' takes no arguments.", hint=f"Write {DEFAULT_MODEL}, or api(NAME) or local(NAME)."
        )
    name = workspace.settings["language_models"]["default"]
    if not name:
        raise UnavailableError(
            "No language model is set.",
            where=workspace.folder / "berdseye.toml",
            hint='Write default = "api(NAME)" or default = "local(NAME)" under [language_models].',
        )
    return _only(parse(name), name)


def _only(calls: list[Call], text: str) -> Call:
    if len(calls) != 1:
        raise BadInputError(f"'{text}' is more than one language model.", hint="Name one.")
    return calls[0]


def _api(model: str, workspace: Workspace) -> LanguageModel:
    settings = workspace.settings["language_models"]
    prices, cap = settings["prices"], settings["cap"]
    return ApiModel(
        model,
        _price(prices[model], model, workspace) if model in prices else None,
        budget=_budget(workspace, cap) if cap else None,
        per_minute=settings["requests_per_minute"],
    )


@lru_cache(maxsize=16)
def _budget(workspace: Workspace, cap: float) -> Budget:
    """One for all the models of a workspace in this process."""
    return Budget(cap, CompletionCache(workspace), workspace.folder / "berdseye.toml")


def _price(value: Any, model: str, workspace: Workspace) -> Price:
    match value:
        case [int() | float() as prompt, int() | float() as completion] if prompt >= 0 and completion >= 0:
            return Price(float(prompt), float(completion))
    raise BadInputError(
        f"The price of '{model}' is not two numbers.",
        where=workspace.folder / "berdseye.toml",
        hint="Write dollars a million tokens, in and out, like [0.15, 0.6].",
    )


def _local(model: str, workspace: Workspace) -> LanguageModel:
    del workspace
    return LocalModel(model)


MODELS: Mapping[str, Callable[[str, Workspace], LanguageModel]] = {"api": _api, "local": _local}
