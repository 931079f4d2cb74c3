"""Addresses of pages about one thing, relative to any page."""

from urllib.parse import urlencode


def passage_address(corpus: str, passage: int) -> str:
    """Everything known of a passage."""
    return f"passage?{urlencode({'corpus': corpus, 'id': passage})}"


def question_address(dataset: str, question_id: str) -> str:
    """One question in all runs."""
    return f"question?{urlencode({'set': dataset, 'question': question_id})}"
