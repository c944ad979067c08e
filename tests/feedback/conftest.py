"""Databases for reports."""

from support.databases import database, postgres_database, postgres_url

__all__ = ["database", "postgres_database", "postgres_url"]
