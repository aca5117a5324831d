"""Choose the tasks to train on, by a recipe and from what the marts know about each task."""
