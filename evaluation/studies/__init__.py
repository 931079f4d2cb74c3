"""Studies of the four papers: each turns stored runs, labels and answers into tables and charts."""
