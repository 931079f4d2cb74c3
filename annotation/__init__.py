"""People's word: judgments, queue, Label Studio, agreement, exports."""
