"""Language models, local or behind an OpenAI-compatible address, and the durable cache of what they wrote."""
