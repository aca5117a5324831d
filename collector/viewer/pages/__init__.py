"""One module per page: it reads the marts and renders a template."""
