"""The hole map as a file: an SVG that any program can read."""

import json
from xml.etree import ElementTree

import pandas as pd
import pytest
import vl_convert

from berdseye.evaluation.charts import SEQUENTIAL
from berdseye.evaluation.failures.charts import HOLE_COLOUR, _ink, _pale, hole_chart, legend


@pytest.mark.parametrize(
    ("colour", "ink"),
    [
        (SEQUENTIAL[7], "white"),  # rank 1: contrast 9.4
        (SEQUENTIAL[3], "black"),  # rank k: 8.5, in white 2.5
        (HOLE_COLOUR, "black"),  # 5.4, in white 3.9
        (_pale(HOLE_COLOUR), "black"),
    ],
)
def test_a_rank_has_the_ink_with_the_higher_contrast(colour: str, ink: str) -> None:
    assert _ink(colour) == ink


def test_the_hole_map_is_a_whole_svg_whatever_the_questions_say() -> None:
    holes = pd.DataFrame(
        {
            "row": [0, 0, 1],
            "question_id": ["a", "a", "b"],
            "question": ["Are trams <good> & quiet?"] * 3,
            "place": [1, 2, 1],
            "perspective": ["They are.", "They are not.", "Some."],
            "stance": ["supporting", "opposing", "none"],
            "perspectives": [2, 2, 1],
            "length": ["up to 8 words"] * 3,
            "rank": [1.0, float("nan"), 7.0],
            "hole": [False, True, True],
            "judged": [1.0, 1.0, 1.0],
        }
    )
    drawn = ElementTree.fromstring(vl_convert.vegalite_to_svg(json.dumps(hole_chart(holes, 5).to_dict())))
    texts = [e.text for e in drawn.iter() if e.tag.endswith("text")]
    assert texts.count("Are trams <good> & quiet?") == 2, "two questions of the same words stay two lines"


def test_the_legend_says_of_a_hole_only_what_the_run_shows() -> None:
    """Another run may have a supporting passage; the reasons beside the map say so."""
    assert [text for text, _ in legend(5)] == ["rank 1", "rank 5", "hole, covered below 5", "hole, not in this run"]
