"""The table in detectors/README.md names what the registry knows, and all of it."""

import re
from pathlib import Path

import pytest

from berdseye.data.grammar import parse
from berdseye.detectors.detector_registry import DETECTORS, parse_detector

PAGE = (Path(__file__).parents[2] / "detectors" / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]
NAMES = [
    name for row in re.findall(r"^\| (`.+?`) \| ", PAGE, re.MULTILINE) for name in re.findall(r"`([^`]+)`", row) if row
]
LIGHT = [name for name in NAMES if not re.search(r"MODEL|PATH|mine|larger|MiniLM", name)]


def test_every_kind_is_in_the_table() -> None:
    assert {parse(name)[0].name for name in NAMES if name != "write"} == set(DETECTORS)


@pytest.mark.parametrize("name", LIGHT)
def test_names_parse_to_what_they_say(name: str) -> None:
    detector = parse_detector(name)
    assert parse_detector(detector.name).version == detector.version
    assert 0 < detector.threshold < 1
    assert detector.threshold_source
