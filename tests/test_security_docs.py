"""The table of attacks names tests that exist, in every row."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
ROWS = [
    line
    for line in (ROOT / "docs" / "security.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| attack |")
]


def test_every_attack_names_a_test_that_exists() -> None:
    assert len(ROWS) > 60
    for row in ROWS:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        assert len(cells) == 4, row
        assert cells[2].startswith(("held", "fell")), row
        named = TEST.findall(cells[3])
        assert named, row
        assert cells[3].count("`") == 2 * len(named), row
        for file, test in named:
            assert re.search(rf"^def {test}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE), (file, test)
