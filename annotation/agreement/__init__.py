"""How far people (and detectors) agree: coefficients with intervals, over items aligned by their keys."""

from berdseye.evaluation.agreement.pairwise import PairAgreement, confusion
from berdseye.evaluation.agreement.together import Agreement, agreement

__all__ = ["Agreement", "PairAgreement", "agreement", "confusion"]
