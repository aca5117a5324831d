"""Turn the files of runs into the marts of a warehouse and into NeMo Gym's output files."""
