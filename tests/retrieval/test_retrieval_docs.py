"""The table of systems in retrieval/README.md says what the code can do, and all of it."""

import re
from pathlib import Path

import pytest

from berdseye.data.workspace import Workspace
from berdseye.retrieval.dense.layouts import LAYOUTS
from berdseye.retrieval.fusion import NORMALISATIONS
from berdseye.retrieval.lexical.bm25 import VARIANTS
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS
from berdseye.retrieval.pipeline_registry import RANKERS, STAGES, parse_pipeline
from berdseye.retrieval.projection.forms import FORMS
from berdseye.retrieval.protocol import PipelineContext

PAGE = (Path(__file__).parents[2] / "retrieval" / "README.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`.+?) \| ", PAGE, re.MULTILINE)
EXAMPLES = [name for row in ROWS for name in re.findall(r"`([^`]+)`", row)]


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_line_of_the_tables_is_a_pipeline(workspace: Workspace, text: str) -> None:
    (workspace.folder / "generated.jsonl").write_text('{"question": "q", "perspectives": ["p"]}\n')
    settings = (workspace.folder / "berdseye.toml").read_text()
    (workspace.folder / "berdseye.toml").write_text(settings.replace('default = ""', 'default = "api(some-model)"'))
    parsed = parse_pipeline(text, PipelineContext(Workspace.open(workspace.folder)))
    assert str(parse_pipeline(str(parsed), PipelineContext(workspace))) == str(parsed)


def test_nothing_is_left_out() -> None:
    called = set(re.findall(r"[a-z0-9_+-]+", " ".join(re.findall(r"`([^`]+)`", PAGE))))
    for registry in (RANKERS, STAGES, FORMS, TOKENIZERS, VARIANTS, LAYOUTS, NORMALISATIONS):
        assert set(registry) <= called
