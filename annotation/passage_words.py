"""What people have said of passages, whatever the perspective: words by the text of the passage."""

from collections.abc import Sequence
from typing import Literal, get_args

import pandas as pd
from sqlalchemy import select

from berdseye.annotation.adjudication import gold_words
from berdseye.annotation.evidence import quotes
from berdseye.annotation.judgments import Judgments, PairRecord, by_keys
from berdseye.annotation.schema import pairs

Standing = Literal["supports", "does not support", "disputed", "unsure"]
STANDINGS: tuple[Standing, ...] = get_args(Standing)
"""What people say of a pair; `disputed`: they differ, and no adjudicator has decided."""


def pairs_of_passages(judgments: Judgments, texts: Sequence[str]) -> dict[str, PairRecord]:
    """The pairs that are known of passages of these texts, by key."""
    with judgments.reading() as connection:
        keys = [
            key
            for query in by_keys(select(pairs.c.key), pairs.c.passage, texts)
            for key in connection.execute(query).scalars()
        ]
    return judgments.pair_records(keys)


def passage_words(judgments: Judgments, texts: Sequence[str]) -> dict[str, frozenset[Standing]]:
    """What people say of some pair of each passage, by its text; passages of which nobody said anything are left out."""
    known = pairs_of_passages(judgments, texts)
    said: dict[str, set[str]] = {}
    for judgment in judgments.present(list(known)):
        said.setdefault(judgment.pair, set()).add(judgment.verdict)
    said |= {pair: {verdict} for pair, verdict in gold_words(judgments, list(known)).items()}
    found: dict[str, set[Standing]] = {}
    for pair, verdicts in said.items():
        found.setdefault(known[pair].passage, set()).add(_standing(verdicts))
    return {text: frozenset(words) for text, words in found.items()}


def passage_history(judgments: Judgments, text: str) -> pd.DataFrame:
    """Everything that was ever said of a passage's pairs, oldest first: pair, at, annotator, kind (an event of the log, undoing
    aside), verdict, comment, evidence (the words of the passage), seconds, source, dataset, question, perspective, undone."""
    rows = []
    for key, record in pairs_of_passages(judgments, [text]).items():
        log = judgments.history(key)
        undone = {event["target"] for event in log if event["kind"] == "undo"}
        rows += [
            {
                "pair": key,
                "id": event["id"],
                **{name: event[name] for name in ("at", "annotator", "kind")},
                "verdict": event["verdict"] or "",
                "comment": event["comment"],
                "evidence": " … ".join(quotes(text, event["evidence"])),
                **{name: event[name] for name in ("seconds", "source")},
                **{name: getattr(record, name) for name in ("dataset", "question", "perspective")},
                "undone": event["id"] in undone,
            }
            for event in log
            if event["kind"] != "undo"
        ]
    columns = ["pair", "id", "at", "annotator", "kind", "verdict", "comment", "evidence", "seconds", "source"]
    frame = pd.DataFrame(rows, columns=[*columns, "dataset", "question", "perspective", "undone"])
    return frame.sort_values("id").drop(columns="id").reset_index(drop=True)


def _standing(verdicts: set[str]) -> Standing:
    yes, no = "supports" in verdicts, "does not support" in verdicts
    if yes and no:
        return "disputed"
    return "supports" if yes else "does not support" if no else "unsure"
