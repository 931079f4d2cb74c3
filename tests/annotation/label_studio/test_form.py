"""The labeling form, and what is written in it: no server needed."""

import pytest
from label_studio_sdk.label_interface import LabelInterface
from there import pair

from berdseye.annotation.batches.check_items import CheckItem
from berdseye.annotation.checks import FORMS, CheckForm
from berdseye.annotation.judgments.log import VERDICTS, Annotator
from berdseye.annotation.label_studio.form import (
    CONFIG,
    RecordedVerdict,
    check_config,
    interface_of,
    label_data,
    pair_of,
    prediction_of,
    read_judgment,
    result_of,
    shown_version,
    task_data,
    validated,
)
from berdseye.annotation.label_studio.people import email_of
from berdseye.data.errors import BadInputError
from berdseye.data.records import DetectorVersion, Grade

A, B, C = RecordedVerdict("supports", ""), RecordedVerdict("does not support", "why"), RecordedVerdict("unsure", "")


def test_the_form_is_valid_and_takes_what_we_write() -> None:
    form = LabelInterface(CONFIG)
    form.validate()
    for verdict in VERDICTS:
        written = {"result": result_of(RecordedVerdict(verdict, "note"))}
        assert form.validate_prediction(written, return_errors=True) == []
    check_config(CONFIG, "any")


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_form_of_a_check_is_valid_and_takes_its_verdicts(form: CheckForm) -> None:
    record = CheckItem("v", "Document.", "View.").record(form, "made")
    data = task_data(record)
    assert data["question"], "an empty text is drawn as an error"
    assert pair_of(data) == record
    interface = LabelInterface(validated("check", form))
    assert {tag.value.removeprefix("$") for tag in interface.objects} <= set(data)
    for verdict in form.values:
        written = result_of(RecordedVerdict(verdict, "note"), data)
        assert interface.validate_prediction({"result": written}, return_errors=True) == []
        assert read_judgment(written, data) == RecordedVerdict(verdict, "note")
    with pytest.raises(BadInputError, match="not a choice of its task"):
        read_judgment(result_of(RecordedVerdict("supports", "")), data)
    with pytest.raises(BadInputError, match="not a choice of its task"):
        read_judgment(result_of(RecordedVerdict("yes", "")), {**data, "corpus": "check:later"})
    check_config(validated("check", form), "any", "check", form)
    with pytest.raises(BadInputError, match="missing or unknown: 'does not support'"):
        check_config(CONFIG, "any", "check", form)


def test_every_text_of_the_form_is_in_the_task() -> None:
    shown = {tag.value.removeprefix("$") for tag in LabelInterface(CONFIG).objects}
    assert shown <= set(task_data(pair(0)))
    assert task_data(pair(1))["title"], "an empty text is drawn as an error"


@pytest.mark.parametrize("number", [0, 1])
def test_a_pair_comes_back_from_its_task(number: int) -> None:
    assert pair_of(task_data(pair(number))) == pair(number)


def test_a_task_with_other_texts_is_not_our_pair() -> None:
    assert pair_of({**task_data(pair(0)), "passage": "Another."}) is None
    assert pair_of({"ext_id": "x", "text": "foreign"}) is None
    assert pair_of({**task_data(pair(0)), "question": None}) is None


@pytest.mark.parametrize("word", [A, B, C, RecordedVerdict("unsure", "two\nlines <b>")])
def test_a_word_comes_back_from_its_result(word: RecordedVerdict) -> None:
    assert read_judgment(result_of(word)) == word


def test_a_comment_written_in_several_parts_is_one() -> None:
    comment = {"from_name": "comment", "value": {"text": [" one", "two "]}}
    assert read_judgment([*result_of(A), comment]) == RecordedVerdict("supports", "one\ntwo")


@pytest.mark.parametrize("choices", [["backs"], ["supports", "unsure"]])
def test_an_unknown_choice_is_named(choices: list[str]) -> None:
    result = result_of(A)
    result[0]["value"]["choices"] = choices
    with pytest.raises(BadInputError, match=choices[0]):
        read_judgment(result)


@pytest.mark.parametrize("result", [[], None, [{"from_name": "verdict", "value": {}}]])
def test_an_annotation_without_verdict_is_an_error(result: object) -> None:
    with pytest.raises(BadInputError, match="no verdict"):
        read_judgment(result)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        (CONFIG.replace('"supports"', '"backs"'), "backs"),
        (CONFIG.replace('name="verdict"', 'name="answer"'), "verdict"),
        (CONFIG.replace('name="comment"', 'name="note"'), "comment"),
        ("<View>", "cannot be read"),
    ],
)
def test_a_changed_form_is_refused_by_name(changed: str, named: str) -> None:
    with pytest.raises(BadInputError, match=named):
        check_config(changed, "Berdseye")


def test_the_score_of_a_prediction_is_that_of_its_verdict() -> None:
    detector = DetectorVersion("nli(X,k=1)", "7", grade="stance")
    assert prediction_of(detector, 0.9, True)["score"] == pytest.approx(0.9)
    assert prediction_of(detector, 0.2, False)["score"] == pytest.approx(0.8)
    assert prediction_of(detector, 0.2, False)["result"][0]["value"]["choices"] == ["does not support"]
    assert prediction_of(detector, 0.2, False)["model_version"] == "nli(X;k=1) 7"


@pytest.mark.parametrize("supports", [True, False])
def test_a_prediction_of_a_detector_of_topics_has_a_score_and_no_verdict(supports: bool) -> None:
    prediction = prediction_of(DetectorVersion("embedded", "7"), 0.43, supports)
    assert prediction == {"model_version": "embedded 7 (topic)", "score": 0.43, "result": []}
    assert LabelInterface(validated("judge", labelled=True)).validate_prediction(prediction, return_errors=True) == []


def test_a_task_calls_a_label_near_the_threshold_unsure() -> None:
    """The prediction keeps its score and has no choice: a choice "unsure" would be read as a person's."""
    detector = DetectorVersion("embedded", "7", 0.43, "topic", 0.1)
    labelled = interface_of("judge", labelled=True)
    said = [label_data(labelled, detector, (p, p >= 0.43))["detector"] for p in (0.32, 0.4, 0.52, 0.54)]
    assert said == [
        "embedded: off topic, P(supports) = 0.32", "embedded: unsure, P(supports) = 0.40", "embedded: unsure, P(supports) = 0.52",
        "embedded: on topic, P(supports) = 0.54",
    ]  # fmt: skip
    prediction = prediction_of(detector, 0.4, False)
    assert (prediction["score"], prediction["result"]) == (0.4, [])


@pytest.mark.parametrize(
    ("grade", "label", "shown"),
    [
        ("topic", (0.43, True), "embedded: on topic, P(supports) = 0.43"),
        ("topic", (0.1, False), "embedded: off topic, P(supports) = 0.10"),
        ("stance", (0.43, True), "embedded: supports, P(supports) = 0.43"),
        ("stance", (0.1, False), "embedded: does not support, P(supports) = 0.10"),
        ("topic", None, "(no label)"),
    ],
)
def test_a_task_shows_its_label_as_a_text(grade: Grade, label: tuple[float, bool] | None, shown: str) -> None:
    detector, labelled = DetectorVersion("embedded", "7", grade=grade), interface_of("judge", labelled=True)
    assert label_data(labelled, detector, label) == {"detector": shown}
    assert label_data(CONFIG, detector, label) == {}
    check_config(labelled, "any")
    LabelInterface(labelled).validate()


def test_versions_have_no_comma() -> None:
    assert shown_version('prompted("x",k=3)') == "prompted('x';k=3)"


@pytest.mark.parametrize(
    ("name", "email"),
    [
        ("Zoë O'Neil", "zoe-o-neil-7@berdseye.local"),
        ("李雷", "annotator-7@berdseye.local"),
        ("x" * 120, f"{'x' * 40}-7@berdseye.local"),
    ],
)
def test_every_name_makes_an_address(name: str, email: str) -> None:
    assert email_of(Annotator(7, name, False)) == email
