"""Agent servers: `POST /run`, one rollout from a row to a reward."""
