"""One-line descriptions of a detector's quality, shown wherever its labels are."""

from berdseye.app.components.plain_text import escaped
from berdseye.data.records import Grade
from berdseye.detectors.protocol import Detector
from berdseye.evaluation.exploration.inspection import Agreement
from berdseye.evaluation.measures.shown import shown


def detector_line(detector: Detector) -> str:
    """Return the detector's name, version, measured quality and threshold as one line of Markdown."""
    return (
        f"{escaped(detector.name)} ({escaped(detector.version)}), measured: {escaped(detector.measured or 'not yet')}. "
        f"Threshold {detector.threshold:.2f}: {escaped(detector.threshold_source)}."
    )


def fallibility(found: Agreement, grade: Grade) -> str:
    """Return a caution about the detector as Markdown: what its grade means, how often it is unsure, and its agreement with the
    gold labels if there are any."""
    parts = [
        "The detector tells passages on the topic from others, not which side they take."
        if grade == "topic"
        else "The detector makes mistakes: read the passage before you trust a label."
    ]
    if found.unsure:
        parts.append(f"It is unsure about {found.unsure} of the {found.pairs} pairs on this page.")
    if found.compared and grade == "stance":
        parts.append(
            f"Where it is sure, it agrees with {found.agreed} of {found.compared} gold labels "
            f"({shown(found.agreed / found.compared)})."
        )
    return f":orange[{' '.join(parts)}]"
