"""The marks in the text of a passage, which show what its supporting labels rest on, and the help of a chip."""

import math

from berdseye.app.components.passage_card import chip_label, explained_source, marks
from berdseye.app.components.plain_text import Mark
from berdseye.data.records import Label, Pair, Passage
from berdseye.detectors.labelling import OpinedPair
from berdseye.detectors.opinions import Opinion
from berdseye.evaluation.charts import perspective_colour
from berdseye.evaluation.exploration.inspection import Chip, Hit
from berdseye.evaluation.exploration.rationales import Rationale

TEXT = "Trams are quiet. Cars are fast. Nobody walks."


def opined(probability: float, opinion: Opinion, opposing: float = math.nan) -> OpinedPair:
    return OpinedPair(Label(probability, opinion in ("supports", "on topic")), opposing, opinion)


def hit(*supports: bool) -> Hit:
    pairs = [Pair(TEXT, f"Perspective {place}", "") for place in range(len(supports))]
    chips = tuple(
        Chip(pair, pair.key, says, "detector", opined(0.9, "on topic" if says else "off topic"))
        for pair, says in zip(pairs, supports, strict=True)
    )
    return Hit(1, 1.0, Passage(0, "0", "", TEXT, ""), chips)


def rests_on(shown: Hit, *spans: tuple[int, int]) -> dict[str, Rationale]:
    return {chip.key: Rationale((span,), "detector") for chip, span in zip(shown.chips, spans, strict=True)}


def tint(place: int) -> str:
    return f"{perspective_colour(place)}33"


def test_marks_have_the_colour_and_the_number_of_their_perspective_in_the_order_of_the_text() -> None:
    shown = hit(True, True)
    assert marks(shown, rests_on(shown, (17, 31), (0, 16))) == [
        Mark(0, 16, tint(1), "P2"),
        Mark(17, 31, tint(0), "P1"),
    ]


def test_spans_that_overlap_are_one_mark_with_both_numbers() -> None:
    shown = hit(True, True, True)
    assert marks(shown, rests_on(shown, (0, 16), (0, 16), (10, 31))) == [Mark(0, 31, tint(0), "P1 P2 P3")]


def test_a_label_that_does_not_support_marks_nothing() -> None:
    shown = hit(False, True)
    assert marks(shown, rests_on(shown, (0, 16), (17, 31))) == [Mark(17, 31, tint(1), "P2")]
    assert marks(shown, {}) == []


def test_a_chip_shows_the_probability_of_what_it_says() -> None:
    pair = Pair(TEXT, "Perspective", "")

    def label(said: OpinedPair, gold: bool | None = None) -> str:
        return chip_label(Chip(pair, pair.key, said.label.supports, "detector", said, gold), 1)

    assert label(opined(0.1, "opposes", 0.75)) == "P2 opposes · 0.75"
    assert label(opined(0.03, "neither", 0.07)) == "P2 neither · 0.90"
    assert label(opined(0.3, "unsure", 0.5)) == "P2 unsure · 0.30"
    assert label(opined(0.1, "off topic")) == "P2 off topic · 0.90"
    assert label(opined(0.8, "supports", 0.1), gold=False) == "P2 supports · 0.80 · ≠ gold"
    assert label(opined(math.nan, "not yet")) == "P2 not yet · …"
    assert chip_label(Chip(pair, pair.key, True, "gold", opined(0.1, "opposes", 0.75), True), 0) == "P1 yes · gold"


def test_the_help_of_a_chip_says_once_what_the_detector_says() -> None:
    pair = Pair(TEXT, "Perspective", "")
    own = Chip(pair, pair.key, False, "detector", opined(0.2, "off topic"))
    gold = Chip(pair, pair.key, True, "gold", opined(0.2, "off topic"), True)
    waiting = Chip(pair, pair.key, False, "detector", opined(math.nan, "not yet"))
    assert explained_source(own) == "detector, P(supports) = 0.20"
    assert explained_source(gold) == "gold label of the data set's authors; detector: off topic, P(supports) = 0.20"
    assert explained_source(waiting) == "detector"
    sided = Chip(pair, pair.key, False, "detector", opined(0.1, "opposes", 0.75))
    assert explained_source(sided) == "detector, P(supports) = 0.10, P(opposes) = 0.75, P(neither) = 0.15"
