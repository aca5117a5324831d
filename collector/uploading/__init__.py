"""Send the settings, figures and files of a run to experiment trackers, once all is on disk."""
