"""Where sentences end, by rule: no model, no download, and the same for every run."""

import re
from collections.abc import Iterator

_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]]*|[。！？]+[」』”]*)(?=\s|$)|(?<=[。！？])(?=[^\s」』”])")
_OPENING = "\"'“‘«([¿¡-–—"
_TITLES = re.compile(
    r"(?:mr|mrs|ms|mx|dr|prof|rev|hon|st|sr|jr|gen|col|maj|capt|lt|sgt|cpl|gov|sen|rep|pres|supt|messrs|mme|mlle)",
    re.IGNORECASE,
)
_ABBREVIATIONS = re.compile(
    r"(?:vs|approx|ca|cf|ch|chap|eds?|eqs?|esp|est|figs?|incl|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|nos?|op|pp?|"
    r"par|para|pt|ref|resp|sec|tab|viz|vols?|art|dept|min|max|misc|tel|univ)",
    re.IGNORECASE,
)
_OFTEN_LAST = re.compile(r"(?:etc|inc|ltd|co|corp|al|[ap]\.m)", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]|[A-HJ-Z]")


def split_sentences(text: str) -> list[str]:
    """The sentences of a paragraph in order, trimmed; joined by spaces they are its words again.

    A full stop ends none after a title (Dr.), an initial (J.), inside a number (3.5) or an address, and after another
    abbreviation only where a capital follows that could begin a sentence.
    """
    return [text[start:end] for start, end in sentence_spans(text)]


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where those sentences stand in the text: [start, end) in characters."""
    found = []
    for start, end in _cuts(text):
        sentence = text[start:end]
        start += len(sentence) - len(sentence.lstrip())
        if held := sentence.strip():
            found.append((start, start + len(held)))
    return found


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in _END.finditer(text):
        if end.end() > start and _ends(text, start, end):
            yield start, end.end()
            start = end.end()
    yield start, len(text)


def _ends(text: str, start: int, end: re.Match[str]) -> bool:
    mark = end.group()
    following = text[end.end() : end.end() + 40].lstrip().lstrip(_OPENING)[:1]
    if following.islower():
        return False
    if not following or mark != ".":
        return True
    before = text[max(start, end.start() - 20) : end.start()].split()
    word = before[-1].lstrip(_OPENING) if before else ""
    if _OFTEN_LAST.fullmatch(word):
        return not following.isdigit()
    # After initials (J.R.R., U.S.) a sentence ends about as often as not; a passage loses less by going on.
    return not any(pattern.fullmatch(word) for pattern in (_TITLES, _ABBREVIATIONS, _INITIALS))
