"""Model files, the devices that models run on, and the static embeddings that come with Berdseye."""
