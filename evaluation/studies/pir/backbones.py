"""Whether projections help on other encoders too (PIR, table 9)."""

from typing import Any

import pandas as pd

from berdseye.evaluation.studies.charts import dots
from berdseye.evaluation.studies.pir.methods import BASELINE, method_pipeline
from berdseye.evaluation.studies.pir.paper import comparison_notes, figure, paper_backbone, paper_column
from berdseye.evaluation.studies.pir.recall_cells import LABELS, p_recall_estimate, with_average
from berdseye.evaluation.studies.pir.setting import AVERAGE, Part, Setting
from berdseye.evaluation.studies.result import Table


def backbones(setting: Setting) -> Part:
    """Mean p-Recall@k over tasks of PAP and PAP+ on each encoder, and the points they add to the plain encoder."""
    searches, cells = list(setting.searches), list[dict[str, Any]]()
    whole = paper_column(searches, AVERAGE) is not None and setting.k == 5

    def mean(encoder: str, method: str) -> tuple[float, int]:
        held = {s.task.name: p_recall_estimate(setting, s, method_pipeline(encoder, method, s)) for s in searches}
        estimate = list(with_average(held).values())[-1]
        return 100 * estimate.value, estimate.n

    for encoder in setting.encoders:
        plain, n = mean(encoder, BASELINE)
        cells.append(_cell(BASELINE, encoder, "average", plain, n, None))
        for method in ("pap", "pap+"):
            value, n = mean(encoder, method)
            for name, shown in (("average", value), ("improvement", value - plain)):
                paper = figure("pir_backbones", name, method=method, backbone=paper_backbone(encoder))
                cells.append(_cell(method, encoder, name, shown, n, paper if whole else None))
    frame = pd.DataFrame(cells)
    notes = comparison_notes(searches, frame)
    caption = f"p-Recall@{setting.k} of projections on several encoders, mean over {len(searches)} tasks (PIR, table 9)"
    table = Table("pir_backbones", caption, frame, ("method", "encoder"), ("figure",), notes=notes)
    means = frame[frame["figure"] == "average"]
    return Part(
        (table,), {"pir_backbones": dots(means, f"p-Recall@{setting.k}, percent", row="encoder", colour="method")}
    )


def _cell(method: str, encoder: str, name: str, value: float, n: int, paper: float | None) -> dict[str, Any]:
    return {
        "method": method,
        "encoder": encoder,
        "figure": name,
        "value": value,
        "n": n,
        "labels": LABELS,
        "published": paper,
    }
