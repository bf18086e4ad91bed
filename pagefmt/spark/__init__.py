"""Page files as a Spark table: a session that needs no Java beforehand, a data source, a stream.

The only room of the package that imports pyspark, and only when asked.
"""
