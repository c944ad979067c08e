"""Fixtures of the store's tests."""

from support.databases import database, postgres_database, postgres_url

__all__ = ["database", "postgres_database", "postgres_url"]
