"""Run a query that somebody wrote, in a process of its own that can do nothing else."""
