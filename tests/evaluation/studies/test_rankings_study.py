"""The same runs under several label sources: what the tables say, worked out by hand, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from berdseye.annotation.judgments.log import Judgments
from berdseye.data.errors import BadInputError
from berdseye.data.workspace import Workspace
from berdseye.evaluation.labels.sources import parse_label_source
from berdseye.evaluation.measures import parse_measure
from berdseye.evaluation.scores.score import Score
from berdseye.evaluation.statistics.intervals import mean_with_interval
from berdseye.evaluation.studies.gathering import stored_runs
from berdseye.evaluation.studies.rankings import judging_sources, rankings_study
from berdseye.evaluation.studies.result import StudyResult

SOURCES = ("gold", "embedded", "similarity(static)")


def study(workspace: Workspace, *sources: str, measure: str = "Precision@5", pipelines: int = 9) -> StudyResult:
    runs = stored_runs(workspace, "policy", "web", None)[:pipelines]
    parsed = [parse_label_source(source) for source in sources]
    return rankings_study(
        workspace, Judgments.open(workspace.judgments_url), runs, parsed, parse_measure(measure), min_judged=0.0
    )


def cells(result: StudyResult, name: str) -> pd.DataFrame:
    return next(t.cells for t in result.tables if t.name == f"rankings-{name}")


def test_ranks_follow_the_values_and_lie_in_their_sets(demo_workspace: Workspace) -> None:
    result = study(demo_workspace, *SOURCES)
    values, ranks = cells(result, "values"), cells(result, "ranks")
    for source in SOURCES:
        own = values[values["source"] == source].set_index("system")["value"]
        of_source = ranks[ranks["source"] == source].set_index("system")
        assert of_source["value"].to_dict() == own.rank(ascending=False).to_dict()
        assert (of_source["low"] <= np.ceil(of_source["value"])).all()
        assert (of_source["high"] >= np.floor(of_source["value"])).all()
    assert ranks["n"].nunique() == 1
    figures = cells(result, "agreement").pivot_table(index=["first", "second"], columns="figure", values="value")
    assert len(figures) == 3
    assert (figures["swaps"] >= figures["decided swaps"]).all()
    assert figures["Kendall's tau"].between(-1, 1).all()
    for table in result.tables:
        assert not table.laid_out().empty
        assert "\\toprule" in table.latex()
    assert result.charts["rankings"].to_dict()["layer"]


def test_a_swap_is_listed_with_both_differences(demo_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under gold the first system is better on every question, under the detector the second one is."""

    def made(*args: object, **_: object) -> list[Score]:
        runs, source = args[2], str(args[3])
        assert isinstance(runs, list)
        lead = 0.2 if source == "gold" else -0.3
        random = np.random.default_rng(0)
        found = []
        for number, run in enumerate(runs):
            kept = 0.4 + 0.1 * random.random(30) + (lead if number == 0 else 0.0)
            plain = Score(
                "policy",
                "web",
                run.manifest.pipeline,
                "Precision@5",
                source,
                "",
                1.0,
                mean_with_interval(kept),
                kept,
                np.ones((30, 2), dtype=np.int64),
            )
            found.append(replace(plain))
        return found

    monkeypatch.setattr("berdseye.evaluation.studies.rankings.score_runs", made)
    result = study(demo_workspace, "gold", "embedded", pipelines=2)
    swaps = cells(result, "swaps")
    first = stored_runs(demo_workspace, "policy", "web", None)[0].manifest.pipeline
    assert set(swaps["system"]) == {first}
    assert swaps["value"].tolist() == pytest.approx([20, -30], abs=3)
    assert swaps["decided"].all()
    figures = cells(result, "agreement").set_index("figure")["value"]
    assert figures.to_dict() == {"Kendall's tau": -1, "pairs": 1, "swaps": 1, "decided swaps": 1}


def test_the_default_sources_are_those_that_have_labels(demo_workspace: Workspace, demo_judgments: Judgments) -> None:
    found = judging_sources(demo_workspace, demo_judgments)
    assert {"human", "consensus(dawid-skene)", "gold", "embedded"} <= set(found)
    assert "random" not in found


def test_what_is_refused(demo_workspace: Workspace) -> None:
    with pytest.raises(BadInputError, match="no values by question"):
        study(demo_workspace, "gold", "corrected(embedded)")
    with pytest.raises(BadInputError, match="Fewer than two label sources"):
        study(demo_workspace, "gold")
    with pytest.raises(BadInputError, match="at least two systems"):
        study(demo_workspace, *SOURCES, pipelines=1)
