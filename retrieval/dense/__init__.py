"""Dense retrieval: exact and approximate FAISS indexes with any encoder."""
