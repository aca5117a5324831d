"""Turn the logs of other frameworks into the files of a run."""
