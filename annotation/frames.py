"""What a query found as a table."""

from typing import Any

import pandas as pd
from sqlalchemy import CursorResult


def frame_of(result: CursorResult[Any]) -> pd.DataFrame:
    """A row a row found, columns by their names in the query."""
    # As plain tuples: pandas asks each of SQLAlchemy's rows whether it is a dataclass, which takes longer than all the rest.
    return pd.DataFrame(map(tuple, result), columns=list(result.keys()))
