"""How far people (and detectors) agree: coefficients with intervals, over items aligned by their keys."""

from annotation.agreement.overview import Agreement, agreement
from annotation.agreement.pairwise import PairAgreement, confusion

__all__ = ["Agreement", "PairAgreement", "agreement", "confusion"]
