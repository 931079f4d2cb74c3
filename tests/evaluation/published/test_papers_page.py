"""docs/papers.md says what its list says, the list counts what can be recomputed, and what it names exists."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from berdseye.app.access.roles import PAGES
from berdseye.app.cli import cli
from berdseye.data.datasets.pir_reformat import reformat
from berdseye.evaluation.published.listing import LISTING, NOTHING, PAPERS, Counts, Printed
from berdseye.evaluation.published.page import START, tables, write
from tests.evaluation.published.recomputation import IMPOSSIBLE, RECOMPUTED, Cell, exact, no_fraction, span, transcribed
from tests.evaluation.published.released import RELEASED, p_recall, stances_found

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "papers.md"
FOLDER = ROOT / "evaluation" / "published"
BY_NAME = {entry.name: entry for entry in LISTING}
WAYS = sorted({way for entry in LISTING for way in entry.made_by})
COMMANDS = [way for way in WAYS if not way.startswith("page ")]


def counted(cells: Iterable[Cell]) -> Counts:
    outcomes = Counter(cell.outcome() for cell in cells)
    return Counts(outcomes.total(), outcomes["equal"], outcomes["rounding"])


def test_the_page_is_what_the_list_writes(tmp_path: Path) -> None:
    """`python -m berdseye.evaluation.published.page docs/papers.md` writes it."""
    text = PAGE.read_text(encoding="utf-8")
    assert START in text
    copy = tmp_path / "papers.md"
    copy.write_text(text.partition(START)[0] + START + "old", encoding="utf-8")
    write(copy)
    assert copy.read_text(encoding="utf-8") == text


def test_names_are_unique_and_of_the_four_papers() -> None:
    assert len(BY_NAME) == len(LISTING)
    assert {entry.paper for entry in LISTING} == set(PAPERS)
    assert set(RECOMPUTED) | set(RELEASED) | set(IMPOSSIBLE) <= set(BY_NAME)


def test_every_transcribed_table_is_in_the_list() -> None:
    assert {name for entry in LISTING for name, _ in entry.files} == {path.stem for path in FOLDER.glob("*.csv")}


@pytest.mark.parametrize("entry", LISTING, ids=lambda entry: entry.name)
def test_counts_from_other_printed_digits(entry: Printed) -> None:
    cells = list(RECOMPUTED[entry.name]()) if entry.name in RECOMPUTED else []
    assert counted(cells) == entry.printed, [c for c in cells if c.outcome() != "equal"]


def test_the_cells_that_other_printed_digits_do_not_give() -> None:
    """The faults that the page explains."""
    cells = {name: [c.name for c in make() if c.outcome() == "fault"] for name, make in RECOMPUTED.items()}
    assert {name: faulty for name, faulty in cells.items() if faulty} == {
        "BERDS table 1": ["all test"],
        "DebateQA table 2": ["claude 3.5 sonnet da"],
        "DebateQA table 15": ["da zero-shot phi-3 medium auroc", "da zero-shot phi-3 medium mcc"],
        "PIR tables 3 and 10": ["tart perspectrum"],
        "D-MERIT table 9": ["5 system-based"],
        "D-MERIT sections 2.3 to 2.6": [
            "positives among those annotations",
            "rater agrees with gpt-4",
            "evidence per query mean",
            "dataset coverage of identified evidence",
        ],
    }


@pytest.mark.parametrize("entry", LISTING, ids=lambda entry: entry.name)
def test_counts_from_released_data(entry: Printed, request: pytest.FixtureRequest) -> None:
    if entry.name not in RELEASED:
        assert entry.released == NOTHING
        return
    cells = list(RELEASED[entry.name](request.getfixturevalue("shared_data")))
    assert counted(cells) == entry.released, [c for c in cells if c.outcome() != "equal"]


@pytest.mark.parametrize("entry", LISTING, ids=lambda entry: entry.name)
def test_cells_that_no_counts_give(entry: Printed) -> None:
    assert len(list(IMPOSSIBLE[entry.name]() if entry.name in IMPOSSIBLE else [])) == entry.impossible


@pytest.mark.parametrize("entry", LISTING, ids=lambda entry: entry.name)
def test_what_is_not_hit_is_explained(entry: Printed) -> None:
    if entry.printed.missed or entry.released.missed or entry.impossible:
        assert entry.faults
    assert entry.lacking or entry.printed.determined == entry.figures() > 0


@pytest.mark.parametrize("way", COMMANDS)
def test_a_named_command_exists_with_its_options(way: str) -> None:
    """Its help names each option, and the value that the option gets."""
    words, *options = way.split(" --")
    result = CliRunner().invoke(cli, [*words.split(), "--help"], env={"COLUMNS": "300"})
    assert result.exit_code == 0, result.output
    for option in options:
        name, _, value = option.partition(" ")
        lines = [line for line in result.output.splitlines() if re.search(rf"--{name}\b", line) and "│" in line]
        assert [line for line in lines if re.search(rf"\b{value}\b", line)], result.output


def test_named_pages_exist() -> None:
    assert {way.removeprefix("page ") for way in WAYS if way not in COMMANDS} <= set(PAGES)


def test_all_studies_of_the_papers_are_named() -> None:
    """The other studies compare runs, and belong to no paper."""
    studies = vars(typer.main.get_command(cli))["commands"]["study"]
    of_papers = {name for name in vars(studies)["commands"] if re.match(r"berds|pir|dmerit|debateqa", name)}
    assert {way.split()[1] for way in COMMANDS if way.startswith("study ")} == of_papers


def test_outcomes_by_hand() -> None:
    """46.45 rounds up to 46.5; 46.4 is allowed if the inputs may be 0.05 lower, and 46.3 is not."""
    assert Cell("", 46.5, 1, exact(46.45)).outcome() == "equal"
    assert Cell("", 46.4, 1, span(46.45, 1)).outcome() == "rounding"
    assert Cell("", 46.3, 1, span(46.45, 1)).outcome() == "fault"
    assert Cell("", 46.3, 1, exact(float("nan"))).outcome() == "fault"
    # 252 and 253 of 750 are 33.60% and 33.73%; 261 of 774 are 33.72%.
    assert no_fraction(33.67, 750)
    assert not no_fraction(33.72, 774)


def test_pir_table_2_has_the_lists_of_the_notebook(shared_data: Path) -> None:
    """39.1, which no order of equal scores gives with each query's own relevant passages."""
    own, shared = p_recall(shared_data, shared_lists=False), p_recall(shared_data, shared_lists=True)
    assert (round(own.low, 1), round(own.high, 1)) == (33.8, 34.3)
    assert (round(shared.low, 1), round(shared.high, 1)) == (38.9, 39.4)
    assert own.high < 39.05 <= shared.high
    assert shared.low < 39.15


@pytest.mark.parametrize(("table", "copied"), [("BERDS table 3", 0), ("BERDS table 17", 1)])
def test_cells_of_the_second_version_are_fractions_of_750(table: str, copied: int) -> None:
    """All that no count of the test questions gives, but for the copied cell of DPR on Sphere."""
    [(name, _)] = BY_NAME[table].files
    rows = transcribed(name)
    keys = rows["corpus"] + " " + rows["retriever"] + " " + rows["dataset"] + " " + rows["measure"]
    values = rows.set_index(keys)["value"]
    others = [cell for cell in IMPOSSIBLE[table]() if no_fraction(float(values[cell]), 750)]
    assert others == ["sphere dpr arguana MRecall@10"][:copied]


def test_facts_that_the_faults_state(shared_data: Path) -> None:
    assert stances_found(shared_data) == {"support": (111, 113), "undermine": (87, 90)}
    queries = reformat("perspectrum", shared_data / "perspectrum").layout()["queries"]
    assert round(sum(len(query.split()) for query in queries) / len(queries), 2) == 15.07
    assert "15.07" in tables()
