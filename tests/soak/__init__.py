"""Kill every writing command at random, and check the promises of docs/reliability.md."""
