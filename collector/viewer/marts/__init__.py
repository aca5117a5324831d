"""Reads the marts: the queries, tables with filters, figures and charts of the pages."""
