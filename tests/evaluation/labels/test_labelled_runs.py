"""A run's block of labels: the same as pair by pair, kept by key, and made anew when what it is made of changes."""

from pathlib import Path

import numpy as np
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.corpora import Corpus
from berdseye.data.datasets.stored import load_dataset, save_dataset
from berdseye.data.records import Perspective, Question
from berdseye.data.runs.pairs import run_keys, run_pairs
from berdseye.data.runs.stored import Run
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.labelled_runs import LabelledRun, keyed_run, labelled_run, with_labels
from berdseye.evaluation.labels.sources import labels_of, parse_label_source
from tests.evaluation.small_workspace import DATASET, QUESTIONS, RANKED, build, put_gold

GOLD = {(0, 0, 0): True, (0, 1, 0): False, (0, 1, 1): False, (0, 1, 2): True, (1, 0, 3): False, (1, 0, 2): True}


def labelled(workspace: Workspace, judgments: Judgments, run: Run, source: str = "gold", k: int = 3) -> LabelledRun:
    return labelled_run(workspace, judgments, run, parse_label_source(source), k)


@pytest.mark.parametrize("source", ["gold", "embedded", "gold>random"])
def test_labels_are_those_of_the_pairs_one_by_one(
    small: Workspace, run: Run, judgments: Judgments, source: str
) -> None:
    put_gold(small, GOLD)
    pairs = run_pairs(small, run, QUESTIONS, 3)
    one_by_one = np.full((3, 3, 2), np.nan)
    one_by_one[tuple(pairs.places.T)] = labels_of(small, judgments, parse_label_source(source), pairs.pairs)
    found = labelled(small, judgments, run, source)
    np.testing.assert_array_equal(found.labels, one_by_one)
    assert found.keys[tuple(pairs.places.T)].astype(str).tolist() == [p.key for p in pairs.pairs]
    assert (found.keys != b"").sum() == len(pairs.pairs) == 3 * 2 + 2 * 1


def test_first_ranks_by_hand(small: Workspace, run: Run, judgments: Judgments) -> None:
    assert RANKED == [[0, 1, 2], [3, 2], [0, 3]]
    put_gold(small, GOLD)
    # Zoos: passage 0 at rank 1 and passage 2 at rank 3. Cars: passage 2 at rank 2. The last has no perspective.
    assert labelled(small, judgments, run).first_ranks().tolist() == [[1, 3], [2, -1], [-1, -1]]
    assert labelled(small, judgments, run, k=2).first_ranks().tolist() == [[1, 0], [2, -1], [-1, -1]]


def test_a_second_look_reads_no_passage(
    small: Workspace, run: Run, judgments: Judgments, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = labelled(small, judgments, run, "embedded")

    def no_reading(self: Corpus, ids: list[int]) -> list[object]:
        raise AssertionError(f"passages {ids} of {self.name} are read again")

    monkeypatch.setattr(Corpus, "passages", no_reading)
    np.testing.assert_array_equal(labelled(small, judgments, run, "embedded", k=2).labels, first.labels[:, :2])


def test_keys_follow_the_perspectives(small: Workspace, run: Run) -> None:
    _, before = run_keys(small, run, load_dataset(small, DATASET), 3)
    changed = [Question(q.id, DATASET, q.text, (*q.perspectives, Perspective("It depends."))) for q in QUESTIONS]
    save_dataset(small, DATASET, changed)
    _, after = run_keys(small, run, load_dataset(small, DATASET), 3)
    assert after.shape == (3, 3, 3)
    np.testing.assert_array_equal(after[:1, :, :2], before[:1])
    assert (after[2, :2, 0] != b"").all()


def test_keys_deeper_than_those_kept_are_made(small: Workspace, run: Run) -> None:
    questions = load_dataset(small, DATASET)
    _, shallow = run_keys(small, run, questions, 1)
    _, deep = run_keys(small, run, questions, 3)
    assert (shallow.shape[1], deep.shape[1]) == (1, 3)
    np.testing.assert_array_equal(deep[:, :1], shallow)


@pytest.mark.parametrize("kept", [b"", b"not an array", None])
def test_a_damaged_file_is_rebuilt(small: Workspace, run: Run, kept: bytes | None) -> None:
    questions = load_dataset(small, DATASET)
    _, before = run_keys(small, run, questions, 3)
    [path] = (small.runs_folder / ".keys").glob("*.npy")
    path.write_bytes(path.read_bytes()[:-40] if kept is None else kept)
    _, after = run_keys(small, run, questions, 3)
    np.testing.assert_array_equal(after, before)


def test_a_run_that_is_made_again_has_its_own_keys(tmp_path: Path) -> None:
    workspace, run = build(tmp_path / "one")
    _, before = run_keys(workspace, run, QUESTIONS, 3)
    (tmp_path / "two").mkdir()
    other_workspace, other = build(tmp_path / "two", [[2, 1, 0], [3, 2], [0, 3]])
    target = other_workspace.runs_folder / ".keys"
    target.mkdir(parents=True)
    [kept] = (workspace.runs_folder / ".keys").glob("*.npy")
    (target / kept.name).write_bytes(kept.read_bytes())
    _, after = run_keys(other_workspace, other, QUESTIONS, 3)
    np.testing.assert_array_equal(after[0], before[0, ::-1])


def test_without_asking_a_detector_only_what_it_was_asked_before_has_a_label(
    small: Workspace, run: Run, judgments: Judgments
) -> None:
    source = parse_label_source("gold>embedded")
    put_gold(small, {(0, 0, 2): True})
    top = labelled(small, judgments, run, "embedded", k=1)
    keyed = keyed_run(small, run, load_dataset(small, DATASET), 3)
    found = with_labels(small, judgments, keyed, source, ask=False)
    assert found.labelled_depth == 1
    assert np.isnan(found.labels[0, 1, 1])
    assert found.labels[0, 2, 0] == 1, "gold"
    np.testing.assert_array_equal(found.top(1).labels, top.labels)
    whole = with_labels(small, judgments, keyed, source)
    assert whole.labelled_depth == 3
    np.testing.assert_array_equal(whole.labels, labelled(small, judgments, run, "gold>embedded").labels)


def test_a_keyed_run_is_as_deep_as_keys_are_kept(small: Workspace, run: Run) -> None:
    questions = load_dataset(small, DATASET)
    assert keyed_run(small, run, questions, 1, deeper=True).keys.shape[1] == 1
    keyed_run(small, run, questions, 3)
    deep = keyed_run(small, run, questions, 1, deeper=True)
    assert deep.keys.shape[1] == deep.ids.shape[1] == 3
    assert deep.top(2).keys.shape[1] == keyed_run(small, run, questions, 2).ids.shape[1] == 2
