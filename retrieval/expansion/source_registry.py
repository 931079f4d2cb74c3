"""The argument of `expand(...)`, and its parsing into a source of perspectives."""

from dataclasses import replace
from typing import Any

from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.grammar import Call
from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.language_models.model_registry import DEFAULT_MODEL, MODELS, open_language_model
from berdseye.data.language_models.prompts import read_prompt
from berdseye.data.workspace import Workspace, find_file
from berdseye.retrieval.expansion.file_source import FileSource
from berdseye.retrieval.expansion.language_model import QUESTION, ModelSource
from berdseye.retrieval.expansion.manual import ManualPerspectives
from berdseye.retrieval.expansion.protocol import ExpansionSource

MANUAL = "manual"
_FORMER_MANUAL = "typed"  # runs of earlier versions bear it in their names
SOURCES = ("file", MANUAL, DEFAULT_MODEL, *MODELS)
_HINT = "Write it like expand(llm), expand(manual), expand(api(NAME)) or expand(PATH)."


def parse_source(value: Any, workspace: Workspace | None) -> ExpansionSource:
    """The source that `expand(...)`, as the grammar read it, or its argument alone names.

    Paths are looked for below the workspace, then below the present folder. Raises `UnknownNameError` with the nearest
    right names, or `BadInputError`.
    """
    if isinstance(value, str):
        return _file(value, workspace)
    if not isinstance(value, Call) or value.keep is not None or value.cutoff is not None:
        raise BadInputError(f"'{value}' is no source of perspectives.", hint=_HINT)
    if value.name == "expand" and len(value.args) == 1 and not value.kwargs:
        return parse_source(value.args[0], workspace)
    if value.name == "file" and len(value.args) == 1 and not value.kwargs:
        return _file(str(value.args[0]), workspace)
    if value.name in (MANUAL, _FORMER_MANUAL) and not value.args and not value.kwargs:
        return ManualPerspectives(_needed(workspace))
    if value.name in (DEFAULT_MODEL, *MODELS):
        return _model(value, _needed(workspace))
    if value.name in ("expand", _FORMER_MANUAL, *SOURCES):
        raise BadInputError(f"'{value}' has the wrong arguments.", hint=_HINT)
    if value == Call(value.name) and ("/" in value.name or "." in value.name):
        return _file(value.name, workspace)
    raise UnknownNameError("source of perspectives", value.name, SOURCES)


def _needed(workspace: Workspace | None) -> Workspace:
    if workspace is None:
        raise BadInputError("This source of perspectives is kept in a workspace.", hint="Open one, or give a file.")
    return workspace


def _file(written: str, workspace: Workspace | None) -> ExpansionSource:
    return FileSource(written, find_file(written, workspace))


def _model(call: Call, workspace: Workspace) -> ExpansionSource:
    for key in call.kwargs:
        if key != "prompt":
            raise UnknownNameError(f"parameter of {call.name}", key, ["prompt"])
    model = open_language_model(replace(call, kwargs={}), workspace)
    cache = CompletionCache(workspace)
    written: Any = call.kwargs.get("prompt")
    if written is None:
        return ModelSource(model, cache)
    prompt = read_prompt(find_file(str(written), workspace), [QUESTION])
    return ModelSource(model, cache, prompt, str(written))
