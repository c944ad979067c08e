"""Fixtures of the insight tools' tests."""

from support.databases import postgres_database, postgres_url

__all__ = ["postgres_database", "postgres_url"]
