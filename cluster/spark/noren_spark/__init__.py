"""Runs Noren's releases, queries and collections on Apache Spark.

Every decision about privacy is made by the program ``noren``, which travels with the job and
runs as ``noren worker STAGE`` beside the data. This package starts it, moves frames between
its stages and counts tasks.
"""

__version__ = "0.1.0"
