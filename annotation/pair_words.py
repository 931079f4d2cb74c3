"""How many people say what of each pair, counted by the database."""

import pandas as pd
from sqlalchemy import func, select

from berdseye.annotation.judgments import Judgments
from berdseye.annotation.schema import present


def pair_words(judgments: Judgments) -> pd.DataFrame:
    """A row for each pair that has a word: how many say that it supports, that it does not, and are unsure; by pair key."""
    verdict = present.c.verdict
    query = (
        select(
            present.c.pair,
            func.count().filter(verdict == "supports").label("supports"),
            func.count().filter(verdict == "does not support").label("opposes"),
            func.count().filter(verdict == "unsure").label("unsure"),
        )
        .where(present.c.kind == "judge")
        .group_by(present.c.pair)
    )
    with judgments.reading() as connection:
        result = connection.execute(query)
        return pd.DataFrame(map(tuple, result), columns=list(result.keys())).set_index("pair")
