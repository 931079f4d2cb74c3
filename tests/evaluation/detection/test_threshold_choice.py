"""A threshold is chosen on dev rows alone, and kept for the version it was chosen for."""

from pathlib import Path

import pytest
from made_detectors import Made, by_passage

from berdseye.data.datasets.labelled_pairs import file_hash
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.detectors.detector_registry import parse_detector
from berdseye.detectors.thresholds import forget_threshold, write_threshold
from berdseye.evaluation.detection.thresholds import choose_threshold

SAYS = by_passage(a=0.9, b=0.6, c=0.55, d=0.2, t=0.99, u=0.01)
HEADER = "document\tperspective\tlabel\tsplit\n"


def written(tmp_path: Path, *rows: str, header: str = HEADER) -> Path:
    path = tmp_path / "judged.tsv"
    path.write_text(header + "".join(f"{row}\n" for row in rows).replace(" ", "\t"), encoding="utf-8")
    return path


def test_the_threshold_has_the_best_f1_of_the_dev_rows_and_no_other_row_is_asked(tmp_path: Path) -> None:
    """At .6: a and b found, nothing wrong, c lost: F1 = 4/5; at .2 all are found and d is wrong: 6/7."""
    path = written(tmp_path, "a x 1 dev", "b x 1 dev", "c x 0 dev", "d x 1 dev", "t x 0 test", "u x 1 train")
    detector = Made(SAYS)
    tuned = choose_threshold(detector, path)
    assert (tuned.value, tuned.f1) == (0.2, pytest.approx(6 / 7))
    assert (tuned.n, tuned.positives) == (4, 3)
    assert {pair.passage for batch in detector.asked for pair in batch} == set("abcd")
    assert tuned.data == "judged.tsv (split dev)"
    assert tuned.data_hash == file_hash(path)
    assert (tuned.detector, tuned.version) == ("made", "1")
    assert (tuned.before, tuned.called_before, tuned.called_after) == (detector.threshold, 0.75, 1.0)


def test_at_the_base_rate_a_false_alarm_weighs_more(tmp_path: Path) -> None:
    """With 16.8% positive, c counts .832 and each positive .056: at .2 F1 is .336 / 1.168, at .6 it is .224 / .28."""
    path = written(tmp_path, "a x 1 dev", "b x 1 dev", "c x 0 dev", "d x 1 dev")
    tuned = choose_threshold(Made(SAYS), path, at_base_rate=True)
    assert (tuned.value, tuned.f1) == (0.6, pytest.approx(0.8))
    assert tuned.data == "judged.tsv at 16.8% positive"


def test_without_splits_every_row_is_used(tmp_path: Path) -> None:
    path = written(tmp_path, "a x 1", "c x 0", "t x 1", header="document\tperspective\tlabel\n")
    tuned = choose_threshold(Made(SAYS), path)
    assert (tuned.n, tuned.data) == (3, "judged.tsv")


@pytest.mark.parametrize(
    ("rows", "said"),
    [(("a x 1 test", "c x 0 train"), "no row of the split 'dev'"), (("a x 1 dev", "c x 0 test"), "the same label")],
)
def test_rows_that_choose_nothing_are_refused(tmp_path: Path, rows: tuple[str, ...], said: str) -> None:
    path = written(tmp_path, *rows)
    with pytest.raises(BadInputError, match=said) as caught:
        choose_threshold(Made(SAYS), path)
    assert caught.value.where == path


def test_what_was_stored_is_used_until_it_is_forgotten(tmp_path: Path, workspace: Workspace) -> None:
    path = written(tmp_path, "trams_are_good trams_are_good 1 dev", "zoos_are_bad trams_are_good 0 dev")
    own = parse_detector("embedded", workspace)
    assert not forget_threshold(workspace, "embedded")
    tuned = choose_threshold(own, path)
    write_threshold(workspace, tuned)
    found = parse_detector("embedded", workspace)
    assert found.threshold == tuned.value != own.threshold
    assert "judged.tsv" in found.threshold_source
    assert forget_threshold(workspace, "embedded")
    assert parse_detector("embedded", workspace).threshold == own.threshold
