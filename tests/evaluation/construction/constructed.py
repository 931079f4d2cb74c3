"""A kind of construction of two steps, begun in a test's workspace, and a model that a test scripts."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from berdseye.data.language_models.prompts import PromptTemplate
from berdseye.data.language_models.protocol import Message
from berdseye.data.workspace import Workspace
from berdseye.evaluation.construction import kinds, working
from berdseye.evaluation.construction.opening import begin
from berdseye.evaluation.construction.steps import Kind
from berdseye.evaluation.construction.stored import Construction
from tests.data.language_models.scripted import ScriptedModel


def scripted(monkeypatch: pytest.MonkeyPatch, answer: Callable[[str], str], **options: Any) -> ScriptedModel:
    """Let constructions ask this model."""
    model = ScriptedModel(answer, **options)
    monkeypatch.setattr(working, "open_language_model", lambda *_: model)
    return model


def lines(path: Path, *rows: Mapping[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def begun(
    workspace: Workspace, kind: Kind | str, source: Path, name: str = "made", prompts: Mapping[str, Path] | None = None
) -> Construction:
    found = kinds.kind_of(kind) if isinstance(kind, str) else kind
    return begin(
        workspace, found, name, {source.stem: source}, {"model": "api(scripted)"}, prompts or {}, made_by="ada"
    )


def prompt(text: str) -> PromptTemplate:
    return PromptTemplate("test", (Message("user", text),))


def step_bytes(construction: Construction) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((construction.folder / "steps").iterdir())}
