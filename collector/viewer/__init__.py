"""The viewer: local web pages about runs, tasks and single rollouts."""
