"""Read single rollouts from their files, and lay them out for reading and comparing."""
