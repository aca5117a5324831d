"""Choose what to train on, and write it in the form that a trainer reads."""
