"""The SQL of reports: bound, with named parameters, for both databases.

Equal reports are folded: the first one that is still open counts them. One that comes again from the same person only
counts; one from somebody else is kept beside it (`duplicate_of`), with its own evidence and contact.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .codec import json_text
from .ddl import quoted
from .schema import EMBEDDINGS, EVENTS, FEEDBACK, LINKS, Dialect
from .statements import Statement

OPEN_STATUSES: Final = ("open", "in_progress")
_OPEN: Final = "status IN ('open', 'in_progress') AND duplicate_of IS NULL"
_SUBMITTED: Final = "feedback.submitted"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose report it is: a verified user, else a conversation; neither for somebody unknown."""

    user_sub: str | None = None
    conversation_key: str | None = None

    @property
    def known(self) -> bool:
        """Can what they wrote be found again?"""
        return self.user_sub is not None or self.conversation_key is not None

    def condition(self, values: dict[str, Any]) -> str:
        """SQL that is true for their rows; adds what it binds to `values`."""
        if self.user_sub is not None:
            values["owner"] = self.user_sub
            return "user_sub = :owner"
        if self.conversation_key is not None:
            values["owner"] = self.conversation_key
            return "(user_sub IS NULL AND conversation_key = :owner)"
        return "1 = 0"


def insert(prefix: str, dialect: Dialect, row: Mapping[str, Any], owner: Owner) -> list[Statement]:
    """Store a report or count it on an equal one; run them in one transaction, then ask `folded`.

    `row` holds a value for every column of the table but `duplicate_of`.
    """
    table = quoted(prefix + FEEDBACK.name)
    values: dict[str, Any] = {"content_hash": row["content_hash"]}
    same = f"SELECT id FROM {table} WHERE content_hash = :content_hash AND {_OPEN}"  # noqa: S608 - names of ours, values bound
    mine = f"{same} AND {owner.condition(values)} ORDER BY created_at LIMIT 1"
    first = f"({same} ORDER BY created_at LIMIT 1)"
    count = "report_count = report_count + 1, last_reported_at = :created_at, updated_at = :created_at"
    moment = {"created_at": row["created_at"]}
    names = FEEDBACK.column_names
    marks = ", ".join(first if name == "duplicate_of" else _mark(name, dialect) for name in names)
    kept = {name: json_text(row[name]) if name in _JSON else row[name] for name in names if name != "duplicate_of"}
    contact = ", contact_info = COALESCE(CAST(:contact_info AS TEXT), contact_info)"
    asked: list[Statement] = [
        (f"UPDATE {table} SET {count}{contact} WHERE id = ({mine})", {**values, **moment, "contact_info": row["contact_info"]}),  # noqa: S608
        (
            f"INSERT INTO {table} ({', '.join(map(quoted, names))}) SELECT {marks} WHERE NOT EXISTS ({mine})",
            {**values, **kept},
        ),
        (
            f"UPDATE {table} SET {count} WHERE id = (SELECT duplicate_of FROM {table} WHERE id = :id)",  # noqa: S608
            {"id": row["id"], **moment},
        ),
    ]
    if dialect == "postgresql":  # two workers must not both become the first one
        asked.insert(0, ("SELECT pg_advisory_xact_lock(CAST(:lock AS BIGINT))", {"lock": zlib.crc32(row["content_hash"].encode())}))
    return asked


_JSON: Final = frozenset(column.name for column in FEEDBACK.columns if column.kind == "json")
_CASTS: Final = {"time": "TIMESTAMP WITH TIME ZONE", "json": "JSONB", "int": "BIGINT", "bool": "BOOLEAN"}


def _mark(name: str, dialect: Dialect) -> str:
    """A bound value; PostgreSQL cannot tell the type of one in a SELECT."""
    if dialect == "sqlite":
        return f":{name}"
    return f"CAST(:{name} AS {_CASTS.get(FEEDBACK.kinds()[name], 'TEXT')})"


def folded(prefix: str, row_id: str, content_hash: str, owner: Owner) -> list[Statement]:
    """The row that a report became: its own, or the one that it was counted on."""
    table, values = quoted(prefix + FEEDBACK.name), {"content_hash": content_hash}
    condition = owner.condition(values)
    head = f"SELECT {_list(FEEDBACK.column_names)} FROM {table} WHERE"  # noqa: S608 - names of ours, values bound
    return [
        (f"{head} id = :id", {"id": row_id}),
        (f"{head} content_hash = :content_hash AND {_OPEN} AND {condition} ORDER BY created_at LIMIT 1", values),
    ]


def by_ids(prefix: str, ids: Sequence[str]) -> Statement:
    """All columns of these reports."""
    names = {f"id{n}": one for n, one in enumerate(dict.fromkeys(ids))}
    marks = ", ".join(f":{name}" for name in names)
    sql = f"SELECT {_list(FEEDBACK.column_names)} FROM {quoted(prefix + FEEDBACK.name)} WHERE id IN ({marks or 'NULL'})"  # noqa: S608
    return sql, names


def duplicates(prefix: str, report_id: str, limit: int) -> Statement:
    """The reports of others that say the same, oldest first."""
    sql = (
        f"SELECT {_list(FEEDBACK.column_names)} FROM {quoted(prefix + FEEDBACK.name)} "  # noqa: S608 - values bound
        "WHERE duplicate_of = :id ORDER BY created_at, id LIMIT :limit"
    )
    return sql, {"id": report_id, "limit": limit}


_EQUAL: Final = ("type", "status", "tool", "submitter_kind", "user_sub", "conversation_key", "client_id", "server_version")


@dataclass(frozen=True, slots=True)
class Which:
    """A choice of reports; `owner` narrows to one person's own. Times as the database takes them."""

    type: str | None = None
    status: str | None = None
    tool: str | None = None
    search: str | None = None
    submitter_kind: str | None = None
    owner: Owner | None = None
    since: Any = None
    before: tuple[Any, str] | None = None
    user_sub: str | None = None
    conversation_key: str | None = None
    client_id: str | None = None
    server_version: str | None = None

    def where(self) -> tuple[str, dict[str, Any]]:
        """The condition and its values. Folded reports of others are left out, unless they are the owner's."""
        values: dict[str, Any] = {}
        parts = ["duplicate_of IS NULL"] if self.owner is None else [self.owner.condition(values)]
        for name in _EQUAL:
            wanted = getattr(self, name)
            if wanted is not None:
                parts.append(f"{quoted(name)} = :{name}")
                values[name] = wanted
        for n, word in enumerate((self.search or "").split()[:8]):
            parts.append(f"(lower(title) LIKE :word{n} ESCAPE '!' OR lower(description) LIKE :word{n} ESCAPE '!' OR id = :exact{n})")
            values |= {f"word{n}": f"%{_escaped(word.lower())}%", f"exact{n}": word.lower()}
        if self.since is not None:
            parts.append("created_at >= :since")
            values["since"] = self.since
        if self.before is not None:
            parts.append("(created_at < :at OR (created_at = :at AND id < :after))")
            values |= {"at": self.before[0], "after": self.before[1]}
        return " AND ".join(parts), values


def _escaped(word: str) -> str:
    """The word for LIKE, where `%`, `_` and `!` mean themselves."""
    return word.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def page(prefix: str, which: Which, limit: int) -> Statement:
    """Reports, the newest first."""
    condition, values = which.where()
    sql = (
        f"SELECT {_list(FEEDBACK.column_names)} FROM {quoted(prefix + FEEDBACK.name)} "  # noqa: S608 - values bound
        f"WHERE {condition} ORDER BY created_at DESC, id DESC LIMIT :limit"
    )
    return sql, {**values, "limit": limit}


def counts(prefix: str, column: str, since: Any) -> Statement:
    """How many reports for each value of a column; `report_count` counts repeats. `column` is a name of ours."""
    values: dict[str, Any] = {} if since is None else {"since": since}
    bound = "" if since is None else " AND created_at >= :since"
    sql = (
        f"SELECT {quoted(column)} AS value, COUNT(*) AS reports, SUM(report_count) AS times "  # noqa: S608 - values bound
        f"FROM {quoted(prefix + FEEDBACK.name)} WHERE duplicate_of IS NULL{bound} GROUP BY {quoted(column)} ORDER BY 2 DESC, 1"
    )
    return sql, values


def count_since(prefix: str, column: str, value: str, since: Any) -> Statement:
    """How many reports one conversation or user has made since then."""
    sql = f"SELECT COUNT(*) AS n FROM {quoted(prefix + FEEDBACK.name)} WHERE {quoted(column)} = :value AND created_at >= :since"  # noqa: S608
    return sql, {"value": value, "since": since}


def set_status(
    prefix: str, dialect: Dialect, report_id: str, status: str, note: Mapping[str, Any], moment: Any, *, verified: bool
) -> Statement:
    """A new status for a report and for those folded into it; the note is appended."""
    added = (
        "COALESCE(notes, CAST('[]' AS JSONB)) || CAST(:note AS JSONB)"
        if dialect == "postgresql"
        else "json_insert(COALESCE(notes, '[]'), '$[#]', json(:note))"
    )
    confirmed = ", verified = TRUE" if verified else ""
    sql = (
        f"UPDATE {quoted(prefix + FEEDBACK.name)} SET status = :status, updated_at = :moment, notes = {added}{confirmed} "  # noqa: S608
        "WHERE id = :id OR duplicate_of = :id"
    )
    return sql, {"status": status, "moment": moment, "note": json_text(dict(note)), "id": report_id}


def delete(prefix: str, ids: Sequence[str]) -> list[Statement]:
    """Remove reports with all that holds their words: links, vectors, events."""
    asked: list[Statement] = []
    for report_id in ids:
        value = {"id": report_id}
        asked += [
            (f"DELETE FROM {quoted(prefix + LINKS.name)} WHERE feedback_ref = :id", value),  # noqa: S608 - value bound
            (f"DELETE FROM {quoted(prefix + EVENTS.name)} WHERE \"key\" = :id AND kind = '{_SUBMITTED}'", value),  # noqa: S608
            (f"DELETE FROM {quoted(prefix + FEEDBACK.name)} WHERE id = :id", value),  # noqa: S608 - value bound
        ]
    return asked


def delete_vectors(prefix: str, ids: Sequence[str]) -> list[Statement]:
    """Remove the vectors of these reports."""
    table = quoted(prefix + EMBEDDINGS.name)
    return [(f"DELETE FROM {table} WHERE source_type = 'feedback' AND source_id = :id", {"id": one}) for one in ids]  # noqa: S608


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(quoted, names))
