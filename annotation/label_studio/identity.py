"""Names for what an exchange makes, so that making it twice makes it once."""

from uuid import NAMESPACE_URL, UUID, uuid5

_ROOT = uuid5(NAMESPACE_URL, "https://berdseye.local/label-studio")


def event_uid(project: str, kind: str, *parts: object) -> str:
    """The uid of an event that something in Label Studio gave rise to."""
    return str(_name(project, kind, *parts))


def annotation_uid(project: str, event: str, task: int) -> str:
    """The `unique_id` of the annotation that an event of ours becomes; a repeat is answered with 409."""
    return str(_name(project, "annotation", event, task))


def _name(*parts: object) -> UUID:
    # Parts are fenced: ("a", "bc") and ("ab", "c") are different names.
    return uuid5(_ROOT, "\x1f".join(str(part) for part in parts))
