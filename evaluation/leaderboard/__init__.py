"""Every system beside every other: what it scores, whom it cannot be told from, what papers print, and what it costs."""
