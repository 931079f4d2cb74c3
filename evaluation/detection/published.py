"""Figures of detection that were published, to stand beside ours."""

import pandas as pd

from berdseye.evaluation.published import published

DETECTORS_SOURCE = "BERDS, 542 pairs"
"""BERDS (version 2), table 4; the second person labelled 176 of the pairs."""
DOMAINS_SOURCE = "BERDS, 300 pairs, labels of GPT-4"
"""BERDS (version 2), table 18: the fine-tuned Mistral-7B outside its training corpus."""
DOMAINS_DETECTOR = "mistral-7b (fine-tuned)"
PAIRS_PER_SECOND = 8.0
"""What 15 minutes a data set on an A40 with vLLM comes to, as BERDS reports for its fine-tuned Mistral-7B."""
SECONDS_PER_DATASET = 15 * 60.0


def published_detectors() -> pd.DataFrame:
    """Columns detector, source, pct_positive, accuracy, f1, in percent; NaN where a figure was not given."""
    table = published("berds_detectors")
    return pd.DataFrame(
        {
            "detector": [
                f"{model} ({setting})" for model, setting in zip(table["model"], table["setting"], strict=True)
            ],
            "source": DETECTORS_SOURCE,
            "pct_positive": table["pct_positive"],
            "accuracy": table["accuracy"],
            "f1": table["f1"],
        }
    )


def published_domains() -> pd.DataFrame:
    """Columns domain, detector, source, pct_positive, accuracy, f1, in percent."""
    table = published("berds_detector_ood")
    return pd.DataFrame(
        {
            "domain": table["corpus"] + " " + table["retriever"],
            "detector": DOMAINS_DETECTOR,
            "source": DOMAINS_SOURCE,
            "pct_positive": table["pct_positive"],
            "accuracy": table["accuracy"],
            "f1": table["f1"],
        }
    )
