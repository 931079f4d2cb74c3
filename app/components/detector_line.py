"""How good the detector behind a label is, said wherever its labels stand."""

from berdseye.app.components.plain_text import escaped
from berdseye.detectors.protocol import Detector


def detector_line(detector: Detector) -> str:
    """Name, version, measured quality and threshold in one line of Markdown."""
    return (
        f"{escaped(detector.name)} ({escaped(detector.version)}), measured: {escaped(detector.measured or 'not yet')}. "
        f"Its threshold {detector.threshold:.2f}: {escaped(detector.threshold_source)}."
    )


def fallibility(agreed: int, compared: int) -> str:
    """How far to trust the detector, in one sentence of Markdown, by its agreement with gold labels where there are any."""
    if not compared:
        return ":orange[The detector makes mistakes, above all about which side a passage takes: read before you trust it.]"
    return (
        f":orange[The detector makes mistakes, above all about sides. On this page it agrees with {agreed} of "
        f"{compared} gold labels ({agreed / compared:.0%}); gold labels, marked *gold*, count before it.]"
    )
