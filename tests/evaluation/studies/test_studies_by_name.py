"""Studies by name: one set of options for the command line and Python, and the check of what Python gives."""

import math
from collections.abc import Mapping, Sequence
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
import typer.main

from berdseye.app.cli import cli
from berdseye.app.components.command_form import leaf_commands
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.studies.by_name.options import Between, Declared, MinJudged, Names, Seed, checked
from berdseye.evaluation.studies.by_name.study_registry import STUDIES, options_of, run_study

STUDY = vars(typer.main.get_command(cli))["commands"]["study"]
COMMANDS = {" ".join(words): command for words, command in leaf_commands(STUDY).items()}
OF_THE_COMMAND_LINE = {"form", "workspace", "json", "help"}


def test_every_study_has_a_command() -> None:
    assert set(STUDIES) == set(COMMANDS) - {"list", "show"}


@pytest.mark.parametrize("name", STUDIES)
def test_a_command_has_the_options_of_its_study(name: str) -> None:
    options, parameters = options_of(name), {p.name: p for p in COMMANDS[name].params}
    assert set(options) == set(parameters) - OF_THE_COMMAND_LINE
    for key, option in options.items():
        parameter = parameters[key]
        assert parameter.required == (option.default is Parameter.empty), key
        if not parameter.required:
            assert parameter.default == option.default, key
        if key == "min_judged":  # read by a parser of its own, which also takes "off"
            continue
        declared = Declared.of(option)
        low, high = getattr(parameter, "min", None), getattr(parameter, "max", None)
        assert declared.limits == (None if low is None else (low, math.inf if high is None else high)), key
        assert parameter.type_descriptor.annotation == (list[declared.kind] if declared.several else declared.kind), key


Test = Literal["t", "bootstrap"]


@pytest.mark.parametrize(
    ("kind", "value", "taken"),
    [
        (str, "MRecall@5", "MRecall@5"),
        (str | None, "gold", "gold"),
        (int, np.int64(3), 3),
        (float, 1, 1.0),
        (bool, False, False),
        (Path | None, "tasks.json", Path("tasks.json")),
        (Test, "t", "t"),
        (Names, "web", ["web"]),
        (Names, ("web", "pages"), ["web", "pages"]),
        (Sequence[int] | None, 5, [5]),
        (Sequence[Path], [Path("a"), "b"], [Path("a"), Path("b")]),
        (Seed, 2**31 - 1, 2**31 - 1),
        (MinJudged, 0, 0.0),
    ],
)
def test_a_valid_value_is_taken(kind: Any, value: object, taken: object) -> None:
    assert checked("compare", Parameter("x", Parameter.KEYWORD_ONLY, annotation=kind), value) == taken


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        (str, 5, "x must be a text, got 5"),
        (int, "5", "x must be an integer, got '5'"),
        (int, True, "x must be an integer, got True"),
        (int, 2.5, "x must be an integer, got 2.5"),
        (float, float("nan"), "x must be a number, got nan"),
        (bool, "no", "x must be True or False, got 'no'"),
        (Path, "", "x must be a path, got ''"),
        (Test, "sign", "x must be one of 't', 'bootstrap', got 'sign'"),
        (Names, ["web", 3], r"x must be a text or a list of texts, got \['web', 3\]"),
        (Seed, -1, "x must be an integer from 0 to 2147483647, got -1"),
        (Annotated[int | None, Between(1)], 0, "x must be an integer of at least 1, got 0"),
    ],
)
def test_an_invalid_value_is_refused(kind: Any, value: object, told: str) -> None:
    with pytest.raises(BadInputError, match=f"{told}. See `berdseye study compare --help`"):
        checked("compare", Parameter("x", Parameter.KEYWORD_ONLY, annotation=kind), value)


@pytest.mark.parametrize(
    ("name", "files", "options", "told"),
    [
        ("curves", ("a.json",), {}, "Study curves takes no files"),
        ("trust", (), {"dataset": "debate"}, "Study trust needs corpus"),
        ("trust", (), {"dataset": "debate", "corpus": None}, "Study trust needs corpus"),
        ("pir", (), {}, "Study pir needs files"),
        ("pir", ("x.json",), {"model": "llm"}, "--model has no effect without --part extraction"),
        ("pir", ("x.json",), {}, "There is no such task file"),
        ("dmerit", (), {}, "needs exactly one source"),
        ("dmerit", (), {"dataset": "debate", "corpus": "web", "pipeline": "bm25"}, "--pipeline has no effect without"),
    ],
)
def test_what_a_study_cannot_use_is_refused(
    workspace: Workspace, name: str, files: tuple[str, ...], options: Mapping[str, object], told: str
) -> None:
    with pytest.raises(BadInputError, match=told):
        run_study(workspace, name, *files, **options)


def test_an_unknown_option_is_named_with_the_nearest(workspace: Workspace) -> None:
    with pytest.raises(UnknownNameError, match=r"option of study compare 'mesure'\. Did you mean measure"):
        run_study(workspace, "compare", mesure="MRecall@5")
