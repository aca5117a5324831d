"""Write the marts for other tools: files that open anywhere, and a snapshot to query."""
