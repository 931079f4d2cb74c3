"""Addresses of pages that name something that does not exist."""

from pathlib import Path

import pytest

from berdseye.data.datasets.stored import import_dataset, load_dataset
from berdseye.data.workspace import Workspace
from tests.app.drawn_page import again, drawn, says


@pytest.mark.parametrize(
    ("page", "query", "told"),
    [
        ("failures", {"run": "nosuch"}, r"no run “nosuch”; this is “\w+ · \w+ · \w+"),
        ("question", {"set": "debate", "question": "nosuch"}, "no question “nosuch”; this is “"),
    ],
)
@pytest.mark.usefixtures("demo")
def test_an_address_of_nothing_is_reported_until_a_person_chooses(page: str, query: dict[str, str], told: str) -> None:
    at = drawn(page, **query)
    assert says(at, told, "warning")
    assert says(again(at), told, "warning"), "still after the page was drawn again"
    key = next(key for key, value in query.items() if value == "nosuch")
    box = at.selectbox(key=key)
    box.select_index(len(box.options) - 1)
    assert not says(again(at), "nosuch", "warning")
    assert "nosuch" not in at.query_params.get(key, [])


def test_the_question_that_another_data_set_lacks_is_not_reported(demo: Workspace, tmp_path: Path) -> None:
    (tmp_path / "second.csv").write_text("question,perspective,stance\nWhy?,Because.,pro\n", encoding="utf-8")
    import_dataset(demo, "second", tmp_path / "second.csv")
    at = drawn("question", set="debate", question=load_dataset(demo, "debate")[1].id)
    at.selectbox(key="set").set_value("second")
    assert says(again(at), r"why\?", "header")
    assert not says(at, "there is no", "warning")
