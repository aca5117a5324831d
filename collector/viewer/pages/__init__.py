"""One module a page: read the marts, and render a template."""
