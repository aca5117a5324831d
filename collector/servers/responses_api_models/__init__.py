"""Model servers: `POST /v1/responses`, answered by an endpoint or by rules."""
