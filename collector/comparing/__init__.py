"""Compare runs of a warehouse: is one better than the other, and how sure is that."""
