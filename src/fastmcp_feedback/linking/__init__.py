"""Linking: which calls led to a report. Rules, the calls in memory, and those that other workers stored."""
