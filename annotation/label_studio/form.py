"""The labeling interface of each task, and the conversion of pairs, labels and judgments between Berdseye and Label Studio."""

import html
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, NamedTuple

from berdseye.annotation.batches.stored import Task
from berdseye.annotation.checks import FORMS, MARK, CheckForm, is_check
from berdseye.annotation.judgments.log import VERDICTS, PairRecord, Verdict
from berdseye.annotation.judgments.recorded import PREFERENCES, verdicts_of
from berdseye.data.errors import BadInputError
from berdseye.data.records import STANCES, DetectorVersion
from berdseye.data.texts.passages import clean

GUIDELINE = (
    "Does the passage support the perspective? Judge by what it says, not by what you know or believe. "
    "Choose 'does not support' when it opposes the perspective or says nothing about it."
)
_PAIR = """<Header size="5" value="Question"/>
  <Text name="question" value="$question" valueType="text"/>
  <Header size="5" value="Perspective"/>
  <Text name="perspective" value="$perspective" valueType="text"/>
  <Header size="5" value="Passage"/>
  <Text name="title" value="$title" valueType="text"/>
  <Text name="passage" value="$passage" valueType="text"/>"""
# Label Studio refuses tasks without the field of a Text, such as those of other programs; a Header says "undefined" there.
_LABEL = '<Header size="5" value="Detector $detector"/>'
_NO_LABEL = "(no label)"
_COMMENT = """<TextArea name="comment" toName="passage" placeholder="Comment (if you like)" rows="2" maxSubmissions="1"
            editable="true"/>"""
CONFIG = f"""<View>
  <Header size="6" value="{GUIDELINE}"/>
  {_PAIR}
  <Choices name="verdict" toName="passage" choice="single-radio" required="true"
           requiredMessage="Choose a verdict.">
    <Choice value="supports" hotkey="1"/>
    <Choice value="does not support" hotkey="2"/>
    <Choice value="unsure" hotkey="3"/>
  </Choices>
  {_COMMENT}
</View>
"""
_UNTITLED, _NO_QUESTION = "(no title)", "(no question)"
_NO_DATA: Mapping[str, Any] = MappingProxyType({})
_OPPOSITE: Mapping[str, Verdict] = {"supports": "does not support", "does not support": "supports"}
_VERIFY = f"""<View>
  <Header size="6" value="Read the passage and decide for yourself, then say whether the decision below is right."/>
  {_PAIR}
  <Header size="5" value="Decision: the passage ... the perspective"/>
  <Text name="decision" value="$decision" valueType="text"/>
  <Choices name="verdict" toName="passage" choice="single-radio" required="true" requiredMessage="Agree or disagree.">
    <Choice value="agree" hotkey="1"/>
    <Choice value="disagree" hotkey="2"/>
    <Choice value="unsure" hotkey="3"/>
  </Choices>
  {_COMMENT}
</View>
"""
_PREFER = f"""<View>
  <Header size="5" value="Question"/>
  <Text name="question" value="$question" valueType="text"/>
  <View style="display: flex; gap: 2em">
    <View style="flex: 1">
      <Header size="5" value="First answer"/>
      <Text name="passage" value="$passage" valueType="text"/>
    </View>
    <View style="flex: 1">
      <Header size="5" value="Second answer"/>
      <Text name="perspective" value="$perspective" valueType="text"/>
    </View>
  </View>
  <Choices name="verdict" toName="passage" choice="single-radio" required="true" requiredMessage="Choose one.">
    <Choice value="first" hotkey="1"/>
    <Choice value="second" hotkey="2"/>
    <Choice value="neither" hotkey="3"/>
  </Choices>
  {_COMMENT}
</View>
"""
_CHECK = """<View>
  <Header size="4" value="{ask}"/>
  <Header size="5" value="Question"/>
  <Text name="question" value="$question" valueType="text"/>
  <Header size="5" value="{statement}"/>
  <Text name="perspective" value="$perspective" valueType="text"/>
  <Header size="5" value="{passage}"/>
  <Text name="title" value="$title" valueType="text"/>
  <Text name="passage" value="$passage" valueType="text"/>
  <Choices name="verdict" toName="passage" choice="single-radio" required="true" requiredMessage="Choose a verdict.">
    {choices}
  </Choices>
  {comment}
</View>
"""
_INTERFACES: Mapping[Task, str] = {"judge": CONFIG, "verify": _VERIFY, "prefer": _PREFER}


def interface_of(task: Task, form: CheckForm | None = None, *, labelled: bool = False) -> str:
    """Return the labeling interface of a task, of checks by their form; with the text of `label_data` if `labelled`."""
    if form is None:
        interface = _INTERFACES[task]
        return interface.replace(_PAIR, f"{_PAIR}\n  {_LABEL}") if labelled else interface
    choices = "\n    ".join(
        f'<Choice value="{html.escape(one.verdict)}" hotkey="{place}" hint="{html.escape(one.means)}"/>'
        for place, one in enumerate(form.verdicts, start=1)
    )
    texts = {"ask": form.question, "statement": form.statement, "passage": form.passage}
    return _CHECK.format(choices=choices, comment=_COMMENT, **{name: html.escape(text) for name, text in texts.items()})


def choices_of(task: Task, form: CheckForm | None = None) -> tuple[str, ...]:
    """Return the choices of the labeling interface of a task, of checks by their form."""
    return ("agree", "disagree", "unsure") if task == "verify" else verdicts_of(task, form)


class RecordedVerdict(NamedTuple):
    """A person's verdict and comment on a pair, in the form that both sides can represent."""

    verdict: str
    comment: str


def task_data(pair: PairRecord) -> dict[str, Any]:
    """Return the `data` of a task: all fields of the pair, with its key as `ext_id`."""
    # Label Studio shows an error in place of an empty text.
    empty = {"title": pair.title or _UNTITLED, "question": pair.question or _NO_QUESTION}
    return {"ext_id": pair.key, **asdict(pair), **empty}


def pair_of(data: Mapping[str, Any]) -> PairRecord | None:
    """Return the pair that `task_data` wrote; None if Berdseye did not create the task or its texts were changed."""
    try:
        fields = {name: data[name] for name in PairRecord.__dataclass_fields__}
    except KeyError:
        return None
    fields["stance"] = fields["stance"] if fields["stance"] in STANCES else None
    texts = [value for name, value in fields.items() if name != "stance"]
    if not all(isinstance(text, str) for text in texts):
        return None
    fields["title"] = "" if fields["title"] == _UNTITLED else fields["title"]
    fields["question"] = "" if fields["question"] == _NO_QUESTION else fields["question"]
    try:
        if PairRecord(**fields).key != data.get("ext_id"):
            return None
    except UnicodeEncodeError:  # half of a character (a lone surrogate), which Berdseye never writes
        return None
    others = fields.keys() - {"passage", "perspective", "stance"}
    return PairRecord(**fields | {name: clean(fields[name]) for name in others})


def result_of(judgment: RecordedVerdict, data: Mapping[str, Any] = _NO_DATA) -> list[dict[str, Any]]:
    """Return the `result` of an annotation of the task with this `data`: the verdict, or agreement with the shown decision."""
    choice: str = judgment.verdict
    if (decision := data.get("decision")) in _OPPOSITE and choice in _OPPOSITE:
        choice = "agree" if choice == decision else "disagree"
    regions = [_region("verdict", "choices", {"choices": [choice]})]
    if judgment.comment:
        regions.append(_region("comment", "textarea", {"text": [judgment.comment]}))
    return regions


def read_judgment(result: Any, data: Mapping[str, Any] = _NO_DATA) -> RecordedVerdict:
    """Return the judgment in a `result` on the task with this `data`; raises `BadInputError` for an unknown or no choice."""
    regions = {r.get("from_name"): r.get("value") or {} for r in result or [] if isinstance(r, dict)}
    choices = regions.get("verdict", {}).get("choices") or []
    if not choices:
        raise BadInputError("it has no verdict", hint="Choose one in Label Studio.")
    verdict = _verdict(choices[0], data) if len(choices) == 1 else None
    if verdict is None:
        raise BadInputError(
            f"the choice {' and '.join(repr(c) for c in choices)} is not a choice of its task",
            hint="Restore the name of the choice in the project's labeling interface, and judge this task again.",
        )
    text = regions.get("comment", {}).get("text") or []
    comment = "\n".join(text) if isinstance(text, list) else str(text)
    return RecordedVerdict(verdict, comment.strip())


def prediction_of(detector: DetectorVersion, probability: float, supports: bool) -> dict[str, Any]:
    """Return the prediction for a label, P(supports) and whether it reaches the threshold.

    Label Studio selects the verdict of a prediction before a person judges. From a detector of grade `stance`, a prediction has
    the verdict, and its score is the probability of this verdict, so that low scores are the uncertain ones. A detector of
    grade `topic` does not know the verdict: its prediction has none, and its score is P(supports).

    Near the threshold, where pages say "unsure", the prediction is the same: the choice "unsure" is what a person says of a pair,
    and Label Studio would count a prediction with it as agreement with people who are unsure.
    """
    version = model_version(detector)
    if detector.grade == "topic":
        return {"model_version": version, "score": probability, "result": []}
    verdict: Verdict = "supports" if supports else "does not support"
    score = probability if supports else 1 - probability
    return {"model_version": version, "score": score, "result": result_of(RecordedVerdict(verdict, ""))}


def model_version(detector: DetectorVersion) -> str:
    """Return the model version of a detector's predictions.

    The grade `topic` is part of it: Label Studio shows predictions of one model version alone, and so hides those with a
    verdict that an earlier version of Berdseye pushed for such a detector.
    """
    return shown_version(f"{detector} (topic)" if detector.grade == "topic" else str(detector))


def shown_version(name: str) -> str:
    """Return a model version as Label Studio can list it: without commas, which separate names there, and double quotes."""
    return name.replace(",", ";").replace('"', "'")


def label_data(config: str, detector: DetectorVersion, label: tuple[float, bool] | None) -> dict[str, str]:
    """Return the part of a task's `data` that shows its label (None: it has none); empty if the interface has no place for it."""
    if "$detector" not in config:
        return {}
    if label is None:
        return {"detector": _NO_LABEL}
    probability, supports = label
    return {"detector": f"{detector.name}: {detector.says(probability, supports)}, P(supports) = {probability:.2f}"}


def _region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": "passage", "type": kind, "value": value}


def _verdict(choice: object, data: Mapping[str, Any]) -> str | None:
    decision, corpus = data.get("decision"), str(data.get("corpus") or "")
    if is_check(corpus):
        form = FORMS.get(corpus.removeprefix(MARK))  # None: another version of Berdseye created the task
        return next((verdict for verdict in form.values if verdict == choice), None) if form is not None else None
    if isinstance(decision, str) and decision in _OPPOSITE:
        if choice in ("agree", "disagree"):
            return decision if choice == "agree" else _OPPOSITE[decision]
        return "unsure" if choice == "unsure" else None
    return next((verdict for verdict in (*VERDICTS, *PREFERENCES) if verdict == choice), None)


def check_config(config: str, title: str, task: Task = "judge", form: CheckForm | None = None) -> None:
    """Raise `BadInputError` unless the labeling interface has Berdseye's controls with exactly the choices of the task."""
    hint = f"Restore it in project '{title}', Settings, Labeling Interface. Nothing was pushed."
    try:
        root = ET.fromstring(config)
    except ET.ParseError as error:
        raise BadInputError(f"The labeling interface cannot be read: {error}.", hint=hint) from error
    choices = root.find(".//Choices[@name='verdict']")
    if choices is None:
        raise BadInputError("The labeling interface has no Choices named 'verdict'.", hint=hint)
    values = {str(c.get("value")) for c in choices.iter("Choice")}
    expected = choices_of(task, form)
    if values != set(expected):
        odd = ", ".join(repr(c) for c in sorted(values ^ set(expected)))
        listed = ", ".join(repr(choice) for choice in expected)
        raise BadInputError(
            f"The choices of 'verdict' must be {listed}; these are missing or unknown: {odd}.", hint=hint
        )
    if choices.get("toName") != "passage" or root.find(".//TextArea[@name='comment']") is None:
        raise BadInputError(
            "The labeling interface must have 'verdict' on the text 'passage' and a TextArea named 'comment'.",
            hint=hint,
        )


def validated(task: Task, form: CheckForm | None = None, *, labelled: bool = False) -> str:
    """Return the labeling interface of a task, checked by the SDK; the server checks it again when it creates a project."""
    from label_studio_sdk.label_interface import LabelInterface  # takes two seconds: only when a project is created

    interface = interface_of(task, form, labelled=labelled)
    LabelInterface(interface).validate()
    return interface


def instruction(text: str) -> str:
    """Return guidelines (plain text in paragraphs) as the instruction of a project, which Label Studio shows as HTML."""
    paragraphs = [html.escape(part.strip()) for part in text.split("\n\n") if part.strip()]
    return "".join(f"<p>{part.replace(chr(10), '<br>')}</p>" for part in paragraphs)
