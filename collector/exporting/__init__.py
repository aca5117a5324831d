"""Write the marts for other tools: as files, and as a snapshot to query."""
