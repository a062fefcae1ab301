"""The version of the distribution, readable without importing anything else."""

VERSION = "0.1.0"
__version__ = VERSION
