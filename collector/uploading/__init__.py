"""Send what a run is and how it did to an experiment tracker, after everything is on disk."""
