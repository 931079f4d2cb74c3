"""Language models, local or behind an OpenAI-compatible address, and the persistent cache of their completions."""
