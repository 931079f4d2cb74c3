"""Values of one system on a question as it is and on both sides that ask."""

import pandas as pd


def cells(**changed: float) -> pd.DataFrame:
    values = {"question": 0.2, "supporting": 0.6, "opposing": -0.4, **changed}
    return pd.DataFrame(
        [{"corpus": "web", "pipeline": "bm25", "system": "bm25, web", "asked": asked, "value": value, "low": value - 0.1,
          "high": value + 0.1, "n": 9} for asked, value in values.items()]
    )  # fmt: skip
