"""The command line: thin shells over the packages, and the only place that prints for people."""
