"""The studies of the four papers, each from stored runs, labels and answers to tables and charts."""
