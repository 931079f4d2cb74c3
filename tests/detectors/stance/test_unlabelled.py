"""Passages that nobody labelled: those of texts, and which perspectives come with a passage."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berdseye.data.errors import BadInputError
from berdseye.detectors.stance.examples import ENTAILED, Example, Statement
from berdseye.detectors.stance.unlabelled import FOUND, NEAR, UNKNOWN, found_examples, near_examples, passages_of
from berdseye.detectors.training_pairs import denial
from tests.detectors.made_debates import SUBJECTS

WORDS = st.sampled_from(["zoos", "trams", "cities", "people", "often", "because", "cars", "Rain", "1990", "é"])
SENTENCES = st.lists(WORDS, min_size=1, max_size=130).map(lambda words: f"So {' '.join(words)} end.")
DOCUMENTS = st.lists(st.lists(SENTENCES, max_size=8), max_size=4)


@given(DOCUMENTS, st.integers(0, 9))
def test_passages_are_whole_sentences_of_one_document(
    tmp_path_factory: pytest.TempPathFactory, documents: list[list[str]], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    (folder / "one.txt").write_text("\n\n".join(" ".join(sentences) for sentences in documents), encoding="utf-8")
    found = passages_of(folder, seed)
    assert found == passages_of(folder, seed)
    assert len(found) == len(set(found))
    runs = {" ".join(one[a:b]) for one in documents for a in range(len(one)) for b in range(a + 1, len(one) + 1)}
    for passage in found:
        assert passage in runs
        assert 30 <= len(passage.split()) <= 120


def test_lines_of_a_document_are_joined_and_other_files_are_left_out(tmp_path: Path) -> None:
    line = "Every city has its own reasons to ban cars from the streets around its schools."
    (tmp_path / "b.txt").write_text(f"{line}\n{line}\n\n{line}", encoding="utf-8")
    (tmp_path / "a.md").write_text(f"{line}\n{line}", encoding="utf-8")
    found = {passage for seed in range(20) for passage in passages_of(tmp_path, seed)}
    assert found == {f"{line} {line}"}  # the second document is too short


def test_a_folder_without_texts_and_a_file_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="The folder has no texts"):
        passages_of(tmp_path, 0)
    (tmp_path / "one.txt").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(BadInputError, match="The texts cannot be read"):
        passages_of(tmp_path, 0)


def of_perspectives(texts: list[str]) -> dict[str, list[Example]]:
    return {"debates": [Example("A labelled passage.", tuple(Statement(text, ENTAILED) for text in texts))]}


def test_a_perspective_brings_passages_that_share_its_words() -> None:
    perspectives = [f"We must abolish {subject}." for subject in SUBJECTS]
    passages = [
        f"The report of {year} says that {subject} cost a lot." for subject in SUBJECTS for year in range(1990, 1998)
    ]
    found = found_examples(passages, of_perspectives(perspectives), 0)[FOUND]
    assert {example.passage for example in found} <= set(passages), "no labelled passage is among them"
    own = 0
    for example in found:
        assert 1 <= len(example.statements) <= 6
        for statement in example.statements:
            assert statement.allowed == UNKNOWN
            assert statement.text in perspectives or denial(statement.text) in perspectives
            own += statement.text.rstrip(".").split()[-1] in example.passage
    assert own >= 6 * len(SUBJECTS)
    said = [statement.text for example in found for statement in example.statements]
    assert 0.15 < sum(text not in perspectives for text in said) / len(said) < 0.45


def test_no_passage_is_found_by_words_that_it_does_not_have() -> None:
    passages = ["Zoos cost a lot."] * 30 + ["Trams cost a lot."]
    found = found_examples(passages, of_perspectives(["Nobody should own tattoos."]), 0)[FOUND]
    assert len(found) <= 6, "by their meaning alone"


def test_the_same_arguments_find_the_same_examples() -> None:
    passages = [f"{subject} and {other} are discussed." for subject in SUBJECTS for other in SUBJECTS[:4]]
    examples = of_perspectives([f"We must abolish {subject}." for subject in SUBJECTS])
    assert found_examples(passages, examples, 1) == found_examples(passages, examples, 1)
    assert found_examples(passages, examples, 1) != found_examples(passages, examples, 2)
    assert len(found_examples(passages[:2], examples, 1)[FOUND]) == 2, "fewer than a search returns"
    assert found_examples([], examples, 1) == {FOUND: []} == found_examples(passages, {}, 1)


def test_near_perspectives_are_none_of_the_passages_own() -> None:
    points = [f"{thing} should be {what}." for thing in ("Zoos", "Cars", "Trams", "Schools", "Taxes")
              for what in ("banned", "free", "safer", "larger", "private")]  # fmt: skip
    own = {f"A long text about {point}": point for point in points}
    examples = {"debates": [Example(text, (Statement(point, ENTAILED),)) for text, point in own.items()]}
    found = near_examples(examples, 0)[NEAR]
    assert {example.passage for example in found} == set(own)
    for example in found:
        assert len(example.statements) == 3
        assert {statement.allowed for statement in example.statements} == {UNKNOWN}
        assert own[example.passage] not in {statement.text for statement in example.statements}
    assert near_examples(examples, 0) == near_examples(examples, 0) != near_examples(examples, 1)
    assert near_examples({"debates": examples["debates"][:3]}, 0) == {NEAR: []}
