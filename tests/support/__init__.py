"""Helpers for the tests; import them as `from support.waiting import until`."""
