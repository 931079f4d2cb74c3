"""Files of models on disk, the devices they run on, and the static embeddings that ship with Berdseye."""
