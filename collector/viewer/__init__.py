"""The viewer: pages on the user's own machine, from how a run did to why a rollout failed."""
