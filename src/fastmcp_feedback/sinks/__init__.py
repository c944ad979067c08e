"""Sinks: where batches of records go, apart from databases."""
