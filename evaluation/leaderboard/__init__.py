"""The leaderboard: scores of systems with significance groups, the figures of the papers, and costs."""
