"""Read the marts: queries, tables with filters, the figures and charts of a run."""
