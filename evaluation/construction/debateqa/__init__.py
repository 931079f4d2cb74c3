"""The construction of a DebateQA: questions from several sources, evidence, points of view, explanations, and people's checks."""
