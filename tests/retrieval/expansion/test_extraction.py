"""Taking queries apart, and how far what was named overlaps with the gold."""

import pytest

from berdseye.data.language_models.cache import CompletionCache
from berdseye.data.workspace import Workspace
from berdseye.retrieval.expansion.language_model import Extracted, extract, qa_f1
from tests.data.language_models.scripted import ScriptedModel

ANSWERS = {
    "against uniforms": 'Sure:\n```json\n{"root": "uniforms", "perspective": " against "}\n```',
    "uniforms": '{"root": "uniforms", "perspective": ""}',
    "only a view": '{"perspective": "a view"}',
    "numbers": '{"root": 3, "perspective": ["x"]}',
    "prose": "There is none.",
    "list": '["against"]',
    "late": '{"note": "hm"} {"root": "late", "perspective": "found"}',
}


def test_queries_are_taken_apart_or_left_whole(workspace: Workspace) -> None:
    def answer(text: str) -> str:
        asked = text.partition("<query>\n")[2].partition("\n</query>")[0]
        return ANSWERS[asked]

    model, cache = ScriptedModel(answer), CompletionCache(workspace)
    found = extract(model, cache, list(ANSWERS))
    assert dict(zip(ANSWERS, found, strict=True)) == {
        "against uniforms": Extracted("uniforms", "against"),
        "uniforms": Extracted("uniforms", ""),
        "only a view": Extracted("only a view", "a view"),
        "numbers": Extracted("numbers", ""),
        "prose": Extracted("prose", ""),
        "list": Extracted("list", ""),
        "late": Extracted("late", "found"),
    }
    assert extract(model, cache, list(ANSWERS)) == found
    assert len(model.asked) == len(ANSWERS)


@pytest.mark.parametrize(
    ("predicted", "gold", "value"),
    [
        ("find an opposing argument", ["Find a claim opposing it", "find the opposing argument"], 3 / 5),
        ("Against!", ["against"], 1.0),
        ("for", ["against"], 0.0),
        ("", ["against"], 0.0),
        ("", [""], 0.0),
        ("in in France", ["in France"], 1.0),
        ("x", [], 0.0),
    ],
)
def test_qa_f1_is_the_intersection_over_the_union_of_words(predicted: str, gold: list[str], value: float) -> None:
    assert qa_f1(predicted, gold) == pytest.approx(value)
