"""One-line descriptions of a detector's quality, shown wherever its labels are."""

from berdseye.app.components.plain_text import escaped
from berdseye.detectors.protocol import Detector


def detector_line(detector: Detector) -> str:
    """Return the detector's name, version, measured quality and threshold as one line of Markdown."""
    return (
        f"{escaped(detector.name)} ({escaped(detector.version)}), measured: {escaped(detector.measured or 'not yet')}. "
        f"Threshold {detector.threshold:.2f}: {escaped(detector.threshold_source)}."
    )


def fallibility(agreed: int, compared: int) -> str:
    """Return a caution about the detector as Markdown, with its agreement with the gold labels if there are any."""
    if not compared:
        return (
            ":orange[The detector makes mistakes, above all about which side a passage takes. Read the passage before you trust "
            "a label.]"
        )
    return (
        ":orange[The detector makes mistakes, above all about which side a passage takes. On this page it agrees with "
        f"{agreed} of {compared} gold labels ({agreed / compared:.0%}); gold labels, marked *gold*, override it.]"
    )
