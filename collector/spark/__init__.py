"""Build the models on Apache Spark, for runs that are too large for one machine."""
