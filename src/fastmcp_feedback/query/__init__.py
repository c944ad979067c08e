"""Questions: read-only functions over a recorded database, the same on SQLite and PostgreSQL."""
