"""Runs the queries of the SQL page, each in a restricted process."""
