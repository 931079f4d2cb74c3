"""Stages that rerank the passages of a retriever."""
