"""How good the detector behind a label is, said wherever its labels stand."""

from app.components.plain_text import escaped
from detectors.protocol import Detector


def detector_line(detector: Detector) -> str:
    """Name, version, measured quality and threshold in one line of Markdown."""
    return (
        f"{escaped(detector.name)} ({escaped(detector.version)}), measured: {escaped(detector.measured or 'not yet')}. "
        f"Its threshold {detector.threshold:.2f}: {escaped(detector.threshold_source)}."
    )
