"""Words that distinguish two groups of texts: log-odds with an informative Dirichlet prior, as z-scores.

Burt L. Monroe, Michael P. Colaresi and Kevin M. Quinn: Fightin' Words: Lexical Feature Selection and Evaluation for
Identifying the Content of Political Conflict. Political Analysis 16(4), 2008, its section on the informative Dirichlet prior.
The weight of a word in the prior is proportional to its frequency in all texts, so neither rare nor very common words come first.
"""

from collections import Counter
from collections.abc import Sequence
from typing import cast

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from berdseye.data.errors import BadInputError
from berdseye.evaluation.charts import CATEGORIES, legend_below
from berdseye.retrieval.lexical.tokenizers import TOKENIZERS, Tokenizer

Doubles = npt.NDArray[np.float64]
PRIOR_WORDS = 500.0
"""The weight of the prior, in words of text."""
UNLIKELY_Z = 1.96
"""By chance, the z-score of a word is as far from 0 as this in one case of twenty."""
_ROW = 20


def contrasting_words(
    first: Sequence[str],
    second: Sequence[str],
    background: Sequence[str] = (),
    *,
    tokenizer: Tokenizer = TOKENIZERS["english"],
    prior_words: float = PRIOR_WORDS,
) -> pd.DataFrame:
    """Return one row per word of the two groups of texts, from the most typical of the first group to the most typical of the
    second.

    Columns: word (the most frequent form of the index term), first and second (frequency in each group), log_odds (positive:
    typical of the first group), z (log_odds in standard deviations; absolute values above `UNLIKELY_Z` are unlikely by chance).
    `background` holds other texts that count in the prior. Raises `BadInputError` unless `prior_words` is above 0.
    """
    if prior_words <= 0:
        raise BadInputError(f"The weight of the prior must be above 0 words, got {prior_words:g}.")
    forms: dict[str, Counter[str]] = {}
    counted = [_counts(texts, tokenizer, forms) for texts in (first, second, background)]
    words = sorted({*counted[0], *counted[1]})
    every: Counter[str] = sum(counted, Counter())
    ours, theirs = (np.array([c[w] for w in words], dtype=np.float64) for c in counted[:2])
    prior = np.array([every[w] for w in words], dtype=np.float64) * prior_words / max(every.total(), 1)
    totals = [prior_words + group.total() for group in counted[:2]]
    # A single word has no other words for log-odds.
    difference = (
        _log_odds(ours, prior, totals[0]) - _log_odds(theirs, prior, totals[1])
        if len(every) > 1
        else np.zeros(len(words))
    )
    deviation = np.sqrt(1 / (ours + prior) + 1 / (theirs + prior))
    frame = pd.DataFrame(
        {
            "word": [forms[w].most_common(1)[0][0] for w in words],
            "first": ours.astype(np.int64),
            "second": theirs.astype(np.int64),
            "log_odds": difference,
            "z": difference / deviation,
        }
    )
    return frame.sort_values(["z", "word"], ascending=[False, True], kind="stable").reset_index(drop=True)


def most_typical(words: pd.DataFrame, count: int) -> pd.DataFrame:
    """Return the `count` words at either end of `contrasting_words` with their group; words with z = 0 are left out."""
    ahead, behind = words[words["z"] > 0].head(count), words[words["z"] < 0].tail(count)
    return pd.concat([ahead.assign(group="first"), behind.assign(group="second")], ignore_index=True)


def words_chart(telling: pd.DataFrame, names: tuple[str, str], colours: tuple[str, str] = CATEGORIES[:2]) -> alt.Chart:
    """Draw a bar for each word of `most_typical`, in the direction of its group."""
    frame = telling.assign(group=telling["group"].map({"first": names[0], "second": names[1]}))
    chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            y=alt.Y("word:N", sort=None, title=None),
            x=alt.X("z:Q", title="z"),
            color=alt.Color(
                "group:N",
                title=None,
                scale=alt.Scale(domain=list(names), range=list(colours)),
                legend=legend_below(names),
            ),
            tooltip=["word", "first", "second", alt.Tooltip("z:Q", format=".2f")],
        )
    )
    return cast(alt.Chart, chart.properties(height=alt.Step(_ROW)))


def _log_odds(own: Doubles, prior: Doubles, total: float) -> Doubles:
    """Return the log-odds of each word in a group of `total` words, including those of the prior."""
    log_odds: Doubles = np.log((own + prior) / (total - own - prior))
    return log_odds


def _counts(texts: Sequence[str], tokenizer: Tokenizer, forms: dict[str, Counter[str]]) -> Counter[str]:
    """Count the index terms of texts; the forms of each term are added to `forms`."""
    counts: Counter[str] = Counter()
    for token, times in Counter(tokenizer.tokens(texts).flatten().to_pylist()).items():
        term = tokenizer.term(token)
        if term is not None:
            counts[term] += times
            forms.setdefault(term, Counter())[token] += times
    return counts
