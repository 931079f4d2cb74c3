"""How far people (and detectors) agree: coefficients with intervals, over items aligned by their keys."""

from berdseye.annotation.agreement.overview import Agreement, agreement
from berdseye.annotation.agreement.pairwise import PairAgreement, confusion

__all__ = ["Agreement", "PairAgreement", "agreement", "confusion"]
