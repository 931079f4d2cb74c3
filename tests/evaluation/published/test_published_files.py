"""The published figures as files: each is described, and the sums that the papers state hold."""

import re
from importlib.resources import files

from berdseye.evaluation.published import published

FOLDER = files("berdseye.evaluation") / "published"


def test_every_file_is_described() -> None:
    described = re.findall(r"^\| (\w+\.csv) \|", (FOLDER / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(described) == sorted(path.name for path in FOLDER.iterdir() if path.name.endswith(".csv"))


def test_two_of_sixty_inspected_examples_have_an_error() -> None:
    """BERDS, version 2, table 19."""
    table = published("berds_quality")
    assert (table["errors"].sum(), table["examples"].sum()) == (2, 60)


def test_few_answers_have_views_that_the_dataset_lacks() -> None:
    """DebateQA, table 11: .03 to .09."""
    assert published("debateqa_missing_views").set_index("extreme")["value"].to_dict() == {
        "lowest": 0.03,
        "highest": 0.09,
    }
