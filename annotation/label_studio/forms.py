"""The labeling interface of each task, checked as Label Studio will check it."""

import html
import xml.etree.ElementTree as ET
from collections.abc import Mapping

from berdseye.annotation.batches import Task
from berdseye.annotation.label_studio.config import CONFIG
from berdseye.annotation.words import verdicts_of
from berdseye.data.errors import BadInputError

_COMMENT = """<TextArea name="comment" toName="passage" placeholder="Comment (if you like)" rows="2" maxSubmissions="1"
            editable="true"/>"""
_VERIFY = f"""<View>
  <Header size="6" value="Read the passage and decide for yourself, then say whether the decision below is right."/>
  <Header size="5" value="Question"/>
  <Text name="question" value="$question" valueType="text"/>
  <Header size="5" value="Perspective"/>
  <Text name="perspective" value="$perspective" valueType="text"/>
  <Header size="5" value="Passage"/>
  <Text name="title" value="$title" valueType="text"/>
  <Text name="passage" value="$passage" valueType="text"/>
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
CONFIGS: Mapping[Task, str] = {"judge": CONFIG, "verify": _VERIFY, "prefer": _PREFER}
CHOICES: Mapping[Task, tuple[str, ...]] = {
    "judge": verdicts_of("judge"), "verify": ("agree", "disagree", "unsure"), "prefer": verdicts_of("prefer")
}  # fmt: skip


def check_config(config: str, title: str, task: Task = "judge") -> None:
    """Raise `BadInputError` unless the labeling interface has our controls with exactly the choices of the task."""
    hint = f"Put it back in project '{title}', Settings, Labeling Interface; nothing was sent."
    try:
        root = ET.fromstring(config)
    except ET.ParseError as error:
        raise BadInputError(f"The labeling interface cannot be read: {error}.", hint=hint) from error
    choices = root.find(".//Choices[@name='verdict']")
    if choices is None:
        raise BadInputError("The labeling interface has no Choices named 'verdict'.", hint=hint)
    found = {str(c.get("value")) for c in choices.iter("Choice")}
    if found != set(CHOICES[task]):
        odd = ", ".join(repr(c) for c in sorted(found ^ set(CHOICES[task])))
        listed = ", ".join(repr(choice) for choice in CHOICES[task])
        raise BadInputError(
            f"The choices of 'verdict' must be {listed}; these are missing or not ours: {odd}.", hint=hint
        )
    if choices.get("toName") != "passage" or root.find(".//TextArea[@name='comment']") is None:
        raise BadInputError(
            "The labeling interface needs 'verdict' on the text 'passage' and a TextArea named 'comment'.",
            hint=hint,
        )


def validated(task: Task) -> str:
    """The labeling interface of a task, after the SDK's check of it; the server's comes with the making of a project."""
    from label_studio_sdk.label_interface import LabelInterface  # takes two seconds: only when a project is made

    LabelInterface(CONFIGS[task]).validate()
    return CONFIGS[task]


def instruction(text: str) -> str:
    """Guidelines as the instruction of a project, which Label Studio shows as HTML: ours are text, in paragraphs."""
    paragraphs = [html.escape(part.strip()) for part in text.split("\n\n") if part.strip()]
    return "".join(f"<p>{part.replace(chr(10), '<br>')}</p>" for part in paragraphs)
