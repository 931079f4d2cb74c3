"""How a training goes, written while it runs: what the app draws."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

CURVE_FILE = "curve.jsonl"


@dataclass(frozen=True)
class Point:
    """After a number of optimiser steps: the mean loss since the point before, and the best F1 on dev.

    `trial` counts the settings that a search tries, from 0.
    """

    trial: int
    step: int
    loss: float
    dev_f1: float


class Curve:
    """The points of one trial, appended to the file of the whole training."""

    def __init__(self, folder: Path, trial: int) -> None:
        self.path = folder / CURVE_FILE
        self.trial = trial

    def resume(self, step: int) -> None:
        """Forget the points of this trial after `step`, which will be walked again."""
        kept = [p for p in read_curve(self.path.parent) if p.trial != self.trial or p.step <= step]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text("".join(_line(p) for p in kept), encoding="utf-8")

    def add(self, step: int, loss: float, dev_f1: float) -> None:
        """Write one point."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(Point(self.trial, step, round(loss, 6), round(dev_f1, 6))))


def read_curve(folder: Path) -> list[Point]:
    """The points so far; a line that a killed process left half written is passed over."""
    path = folder / CURVE_FILE
    points = []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            points.append(Point(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return points


def _line(point: Point) -> str:
    return json.dumps(asdict(point)) + "\n"
