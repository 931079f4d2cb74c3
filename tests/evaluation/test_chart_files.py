"""Files of charts: whole in themselves, whatever their ending."""

import re
from pathlib import Path

import altair as alt
import pandas as pd
import pytest

from berdseye.data.errors import BadInputError
from berdseye.evaluation.charts import drawer

CHART = (
    alt.Chart(pd.DataFrame({"x": [1, 2], "name": ["</script><b>", "http://x.test"]})).mark_bar().encode(x="x", y="name")
)


@pytest.mark.parametrize(
    ("name", "begins"), [("a.svg", b"<svg"), ("a.PNG", b"\x89PNG"), ("a.html", b"<!DOCTYPE html>")]
)
def test_the_ending_says_what_is_drawn(name: str, begins: bytes) -> None:
    assert drawer(Path(name))(CHART).startswith(begins)


def test_another_ending_is_refused() -> None:
    with pytest.raises(BadInputError, match=r"cannot be saved as '.pdf' files.*Use .svg, .png, .html"):
        drawer(Path("a.pdf"))


def test_a_page_loads_nothing() -> None:
    page = drawer(Path("a.html"))(CHART).decode()
    assert re.findall(r"(?:src|href)=.?(?:https?:)?//[^>]*", page) == []
    assert re.findall(r"<(?:script|link)[^>]* (?:src|href)=", page) == []
    assert "default-src 'none'" in page.partition("<script")[0], "the browser is told so before anything else"
    assert "</script><b>" not in page
