"""Open what was given, serve it, and keep others out; keep up with runs that still grow."""
