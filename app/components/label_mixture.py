"""What part of the labels behind a leaderboard comes from people, and what part from a detector."""

from collections.abc import Mapping

from berdseye.app.components.plain_text import escaped
from berdseye.evaluation.labels.sources import parse_label_source

UNEVEN = 0.1
"""The difference between the shares of two systems from which the note warns."""


def mixing_note(shares: Mapping[str, float], source: str) -> str:
    """Return Markdown on the share of the labels that come from people or gold and not from the detector, by system; empty if the
    source does not mix both, or nothing comes from people or gold."""
    if not shares or not any(shares.values()):
        return ""
    least, most = min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)
    low, high = shares[least], shares[most]
    *before, detector = parse_label_source(source).plain.parts
    named = escaped(" or ".join(before))
    if high - low < UNEVEN:
        return f"Of the labels, {low:.0%} to {high:.0%} come from {named}, the others from {escaped(detector)}."
    corrected = escaped(f"corrected({detector})")
    return (
        f":orange[Of the labels of {escaped(most)}, {high:.0%} come from {named}, but only {low:.0%} of those of "
        f"{escaped(least)}.] Such a mixture can favour the systems whose passages people judged more (measured on TREC iKAT: "
        f"arXiv 2405.05600). For numbers without this fault, choose **{corrected}**, which needs a batch of random questions."
    )
