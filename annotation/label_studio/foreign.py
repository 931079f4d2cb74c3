"""Reading tasks that Berdseye did not make: which of their texts and choices are which of ours."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from berdseye.annotation.judgments import VERDICTS, PairRecord, Verdict
from berdseye.annotation.label_studio.config import Word, pair_of, word_of
from berdseye.data.errors import BadInputError, UnknownNameError
from berdseye.data.passages import clean
from berdseye.data.records import STANCES

RawTask = Mapping[str, Any]
FIELDS = ("passage", "perspective", "question", "question_id", "title", "url", "stance")
_GUESSED_FIELDS: Mapping[str, tuple[str, ...]] = {
    "passage": ("passage", "document", "doc", "evidence", "context", "text", "answer"),
    "perspective": ("perspective", "claim", "statement", "hypothesis", "argument"),
    "question": ("question", "query", "topic", "prompt"),
    "question_id": ("question_id", "query_id", "qid", "topic_id"),
    "title": ("title",),
    "url": ("url", "link", "source_url"),
    "stance": ("stance",),
}
_GUESSED_VERDICTS: Mapping[str, Verdict] = {
    **dict.fromkeys(("supports", "support", "supported", "supporting", "yes", "true", "entails", "entailment"), "supports"),
    **dict.fromkeys(
        (
            "does not support", "not support", "not supported", "no support", "unsupported", "no", "false",
            "refutes", "opposes", "contradicts", "contradiction", "neutral", "irrelevant",
        ),
        "does not support",
    ),
    **dict.fromkeys(("unsure", "not sure", "uncertain", "unclear", "maybe", "don't know", "cannot tell"), "unsure"),
}  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """How to read them; what is left empty is guessed from names.

    `control` is the name of the Choices, `verdicts` our verdict by choice, `comment` the name of a TextArea, `fields` the key in
    a task's data by field of ours. `dataset` is where new pairs are said to come from.
    """

    control: str = ""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    comment: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    dataset: str = "label-studio"


GUESSED = Rule()


def rule_for(tasks: Iterable[RawTask], given: Rule) -> Rule:
    """The rule with its gaps filled from what the tasks hold; raises `BadInputError` for what cannot be guessed.

    Tasks that Berdseye made need none of it.
    """
    foreign = [task for task in tasks if pair_of(_data(task)) is None]
    if unknown := [name for name in given.fields if name not in FIELDS]:
        raise UnknownNameError("field", unknown[0], FIELDS)
    if wrong := [verdict for verdict in given.verdicts.values() if verdict not in VERDICTS]:
        raise UnknownNameError("verdict", wrong[0], VERDICTS)
    if not foreign:
        return given
    keys = Counter(key for task in foreign for key in _data(task))
    texts = dict(given.fields)
    for name, guesses in _GUESSED_FIELDS.items():
        found = next((key for guess in guesses for key in keys if key.casefold() == guess), None)
        if name not in texts and found is not None and found not in texts.values():
            texts[name] = found
    for name in ("passage", "perspective"):
        if texts.get(name) not in keys:
            raise BadInputError(
                f"Which text of a task is the {name} is not told. They hold: {', '.join(sorted(keys)) or 'nothing'}.",
                hint=f"Say it with --field {name}=KEY.",
            )
    chosen: dict[str, Counter[str]] = {}
    comments: Counter[str] = Counter()
    for region in _regions(foreign):
        name, value = str(region.get("from_name")), region.get("value")
        if region.get("type") == "choices" and isinstance(value, dict):
            chosen.setdefault(name, Counter()).update(map(str, value.get("choices") or ()))
        elif region.get("type") == "textarea":
            comments[name] += 1
    control = given.control or ("verdict" if "verdict" in chosen else next(iter(chosen), ""))
    if not given.control and len(chosen) > 1 and "verdict" not in chosen:
        raise BadInputError(
            f"There are several choices to a task: {', '.join(sorted(chosen))}.",
            hint="Say which one with --control NAME.",
        )
    if given.control and chosen and given.control not in chosen:
        raise UnknownNameError("choices", given.control, chosen)
    verdicts = {**given.verdicts}
    for choice in chosen.get(control, ()):
        guess = _GUESSED_VERDICTS.get(choice.strip().casefold())
        if choice not in verdicts and guess is not None:
            verdicts[choice] = guess
    if unread := [choice for choice in chosen.get(control, ()) if choice not in verdicts]:
        listed = ", ".join(map(repr, unread))
        raise BadInputError(
            f"What these choices of '{control}' mean is not told: {listed}.",
            hint=f"Say it for each, such as --choice {unread[0]!r}=supports, or 'does not support', or unsure.",
        )
    comment = given.comment or ("comment" if "comment" in comments else next(iter(comments), ""))
    return Rule(control, verdicts, comment, texts, given.dataset)


def read_pair(task: RawTask, rule: Rule) -> PairRecord:
    """The pair of a task; raises `BadInputError` where it has no passage or no perspective."""
    data = _data(task)
    if (ours := pair_of(data)) is not None:
        return ours
    texts = {name: clean(str(data.get(key) or "")) for name, key in rule.fields.items()}
    for name in ("passage", "perspective"):
        if not texts.get(name):
            raise BadInputError(f"it has no {name}")
    stance = texts.get("stance", "")
    question = texts.get("question", "")
    return PairRecord(
        rule.dataset, texts.get("question_id") or question, question, texts["perspective"],
        stance if stance in STANCES else None,
        rule.dataset, texts.get("title", ""), texts["passage"], texts.get("url", ""),
    )  # fmt: skip


def read_word(annotation: Mapping[str, Any], task: RawTask, rule: Rule) -> Word | None:
    """What an annotation says; None where it was skipped. Raises `BadInputError` where it holds no verdict of ours."""
    if annotation.get("was_cancelled"):
        return None
    result = annotation.get("result")
    if pair_of(_data(task)) is not None:
        return word_of(result, _data(task))
    regions = [region for region in result or [] if isinstance(region, dict)]
    values = {str(r.get("from_name")): r.get("value") for r in regions if isinstance(r.get("value"), dict)}
    choices = (values.get(rule.control) or {}).get("choices") or []
    if len(choices) != 1:
        raise BadInputError(f"it holds {len(choices)} choices of '{rule.control}'")
    text = (values.get(rule.comment) or {}).get("text") or []
    comment = "\n".join(map(str, text)) if isinstance(text, list) else str(text)
    return Word(rule.verdicts[str(choices[0])], comment.strip())


def _data(task: RawTask) -> Mapping[str, Any]:
    data = task.get("data")
    return data if isinstance(data, dict) else {}


def _regions(tasks: Iterable[RawTask]) -> Iterator[Mapping[str, Any]]:
    for task in tasks:
        for annotation in task.get("annotations") or ():
            for region in annotation.get("result") or ():
                if isinstance(region, dict):
                    yield region
