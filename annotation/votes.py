"""From several people's judgments of a pair to one word."""

from collections import Counter
from collections.abc import Iterable, Mapping

from berdseye.annotation.judgments import Judgment, Verdict


def people_say(
    judgments: Iterable[Judgment], *, first: int | None = None, gold: Mapping[str, Verdict] | None = None
) -> dict[str, bool]:
    """Whether people say that a pair supports, by pair key.

    An adjudicator's word (`gold`: annotation/adjudication.py) decides; one who is unsure says that nobody can tell. Else the
    majority of those who are sure decides; on a tie, and where nobody is sure, people say nothing. With `first` (an
    annotator's id) that person's own word comes before the majority: what someone corrects, they see corrected.
    """
    sure = [j for j in judgments if j.verdict != "unsure"]
    balance: Counter[str] = Counter()
    for judgment in sure:
        balance[judgment.pair] += 1 if judgment.verdict == "supports" else -1
    said = {pair: total > 0 for pair, total in balance.items() if total != 0}
    said.update({j.pair: j.verdict == "supports" for j in sure if j.annotator.id == first})
    decided = gold or {}
    said.update({pair: verdict == "supports" for pair, verdict in decided.items()})
    return {pair: word for pair, word in said.items() if decided.get(pair) != "unsure"}
