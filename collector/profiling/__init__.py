"""Turn the files of a run into the marts of the warehouse, and NeMo Gym's output files."""
