"""The names of language models: `api(NAME)`, `local(NAME)`, and `llm`, the default model of the workspace."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from berdseye.data.errors import BadInputError, UnavailableError, UnknownNameError
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.cost import Budget, Price
from berdseye.data.language_models.protocol import LanguageModel
from berdseye.data.workspace import Workspace

if TYPE_CHECKING:
    from berdseye.data.grammar import Call
DEFAULT_MODEL = "llm"


def open_language_model(spec: "str | Call", workspace: Workspace) -> LanguageModel:
    """The language model of this name, without loading it or sending a request.

    Raises `UnknownNameError` with the closest names, `UnavailableError` for `llm` if the workspace has no default model.
    """
    from berdseye.data.grammar import Call, parse

    call = spec if isinstance(spec, Call) else _only(parse(spec), spec)
    if call.name == DEFAULT_MODEL:
        call = _default(call, workspace)
    if call.name not in MODELS:
        raise UnknownNameError("language model", call.name, [*MODELS, DEFAULT_MODEL])
    if len(call.args) != 1 or call.kwargs or call.keep is not None or call.cutoff is not None:
        raise BadInputError(f"'{call}' does not name one model.", hint=f"Write it like {call.name}(NAME).")
    return MODELS[call.name](str(call.args[0]), workspace)


def _default(call: "Call", workspace: Workspace) -> "Call":
    from berdseye.data.grammar import Call, parse

    if call != Call(DEFAULT_MODEL):
        raise BadInputError(
            f"'{call}' must not have arguments.", hint=f"Write {DEFAULT_MODEL}, api(NAME) or local(NAME)."
        )
    name = workspace.settings["language_models"]["default"]
    if not name:
        raise UnavailableError(
            "The workspace has no default language model.",
            where=workspace.folder / "berdseye.toml",
            hint='Write default = "api(NAME)" or default = "local(NAME)" under [language_models].',
        )
    return _only(parse(name), name)


def _only(calls: "list[Call]", text: str) -> "Call":
    if len(calls) != 1:
        raise BadInputError(f"'{text}' names more than one language model.", hint="Give one name.")
    return calls[0]


def _api(model: str, workspace: Workspace) -> LanguageModel:
    from berdseye.data.language_models.api import ApiModel

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
    """The budget shared by all models of a workspace in this process."""
    return Budget(cap, CompletionCache(workspace), workspace.folder / "berdseye.toml")


def _price(value: Any, model: str, workspace: Workspace) -> Price:
    match value:
        case [int() | float() as prompt, int() | float() as completion] if prompt >= 0 and completion >= 0:
            return Price(float(prompt), float(completion))
    raise BadInputError(
        f"The price of '{model}' must be two numbers of at least 0, got {value!r}.",
        where=workspace.folder / "berdseye.toml",
        hint="Write dollars per million input and output tokens, like [0.15, 0.6].",
    )


def _local(model: str, workspace: Workspace) -> LanguageModel:
    from berdseye.data.language_models.local import LocalModel

    del workspace
    return LocalModel(model)


MODELS: Mapping[str, Callable[[str, Workspace], LanguageModel]] = {"api": _api, "local": _local}
