"""The version of the package: printed by `hmstats version`, and stored as the tool in the provenance of statistics."""

__version__ = "0.1.0"
