"""Model servers: they answer `POST /v1/responses` with an endpoint's or a simulated response."""
