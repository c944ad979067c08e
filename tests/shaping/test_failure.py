"""Whose fault a failure was: by exception family, by FastMCP's refusals, and by the words of soft errors."""

from __future__ import annotations

import importlib
import socket
import ssl
import urllib.error
from email.message import Message
from http.client import RemoteDisconnected
from typing import Any

import pytest

from fastmcp_feedback.capture.exceptions import describe_exception
from fastmcp_feedback.raw import ExceptionFacts
from fastmcp_feedback.records import Failure
from fastmcp_feedback.shaping.failure import CATEGORIES, derive_failure
from fastmcp_feedback.shaping.families import UPSTREAM
from support.versions import IS_V4


def of_exception(facts: ExceptionFacts, *, cancelled: bool = False) -> Failure:
    """The failure of a call that raised."""
    found = derive_failure(
        tool="render", outcome="error", error_type=facts.type_name, error_message=facts.message, exception=facts, cancelled=cancelled
    )
    assert found is not None
    assert found.category in CATEGORIES[found.fault]
    return found


def of_families(*families: str, status: int | None = None, message: str = "") -> tuple[str, str]:
    """Fault and category of an exception with these classes."""
    found = of_exception(ExceptionFacts(families[0].rpartition(".")[2], message, families, status_code=status))
    return found.fault, found.category


def of_soft_error(message: str, result: object = None) -> tuple[str, str]:
    """Fault and category of a soft error."""
    found = derive_failure(
        tool="t", outcome="soft_error", error_type="SoftError", error_message=message, exception=None, cancelled=False, result=result
    )
    assert found is not None
    return found.fault, found.category


def test_a_call_that_is_ok_has_no_failure() -> None:
    """Whatever else is given."""
    assert derive_failure(tool="t", outcome="ok", error_type=None, error_message=None, exception=None, cancelled=False) is None


# Class, its bases, and the category: as the libraries name them.
FAMILIES: list[tuple[tuple[str, ...], str]] = [
    (("httpx.ConnectTimeout", "httpx.TimeoutException", "httpx.TransportError", "httpx.RequestError", "httpx.HTTPError"), "timeout"),
    (("httpx.ConnectError", "httpx.NetworkError", "httpx.TransportError"), "connection"),
    (("httpx2.ReadTimeout", "httpx2.TimeoutException"), "timeout"),
    (("httpx2._exceptions.RemoteProtocolError", "httpx2._exceptions.ProtocolError"), "connection"),
    (
        ("aiohttp.client_exceptions.ServerTimeoutError", "aiohttp.client_exceptions.ServerConnectionError", "builtins.TimeoutError"),
        "timeout",
    ),
    (("aiohttp.client_exceptions.ClientConnectorError", "aiohttp.client_exceptions.ClientOSError"), "connection"),
    (("requests.exceptions.ConnectTimeout", "requests.exceptions.ConnectionError", "requests.exceptions.Timeout"), "timeout"),
    (("requests.exceptions.ConnectionError", "requests.exceptions.RequestException", "builtins.OSError"), "connection"),
    (("urllib3.exceptions.MaxRetryError", "urllib3.exceptions.RequestError"), "connection"),
    (("asyncpg.exceptions.QueryCanceledError", "asyncpg.exceptions.OperatorInterventionError"), "timeout"),
    (("asyncpg.exceptions.ConnectionDoesNotExistError", "asyncpg.exceptions.PostgresConnectionError"), "connection"),
    (("asyncpg.exceptions.TooManyConnectionsError", "asyncpg.exceptions.InsufficientResourcesError"), "unavailable"),
    (("psycopg.errors.QueryCanceled", "psycopg.OperationalError", "psycopg.DatabaseError"), "timeout"),
    (("psycopg.OperationalError", "psycopg.DatabaseError"), "connection"),
    (("sqlalchemy.exc.TimeoutError", "sqlalchemy.exc.SQLAlchemyError"), "timeout"),
    (("sqlalchemy.exc.OperationalError", "sqlalchemy.exc.DBAPIError", "pymysql.err.OperationalError"), "connection"),
    (("redis.exceptions.TimeoutError", "redis.exceptions.RedisError"), "timeout"),
    (("redis.exceptions.BusyLoadingError", "redis.exceptions.ConnectionError"), "unavailable"),
    (("botocore.exceptions.EndpointConnectionError", "botocore.exceptions.ConnectionError"), "connection"),
    (("openai.APITimeoutError", "openai.APIConnectionError", "openai.APIError"), "timeout"),
    (("openai.RateLimitError", "openai.APIStatusError"), "rate_limited"),
    (("anthropic.InternalServerError", "anthropic.APIStatusError"), "unavailable"),
    (("google.api_core.exceptions.ServiceUnavailable", "google.api_core.exceptions.ServerError"), "unavailable"),
    (("builtins.ConnectionRefusedError", "builtins.ConnectionError", "builtins.OSError"), "connection"),
    (("builtins.TimeoutError", "builtins.OSError"), "timeout"),
    # A cause counts: the author's own error around it.
    (("fastmcp.exceptions.ToolError", "fastmcp.exceptions.FastMCPError", "httpx.ReadTimeout", "httpx.TimeoutException"), "timeout"),
    (("shop.errors.CatalogueError", "builtins.ConnectionResetError", "builtins.ConnectionError"), "connection"),
]


@pytest.mark.parametrize(("families", "category"), FAMILIES, ids=lambda value: value[0] if isinstance(value, tuple) else value)
def test_families_of_clients_are_upstream(families: tuple[str, ...], category: str) -> None:
    """Timeouts, connections and failures of what the tool called, by the names of classes alone."""
    assert of_families(*families) == ("upstream", category)


@pytest.mark.parametrize(
    ("families", "status", "expected"),
    [
        (("httpx.HTTPStatusError", "httpx.HTTPError"), 429, ("upstream", "rate_limited")),
        (("httpx.HTTPStatusError", "httpx.HTTPError"), 503, ("upstream", "unavailable")),
        (("httpx2.HTTPStatusError",), 504, ("upstream", "timeout")),
        (("requests.exceptions.HTTPError", "builtins.OSError"), 404, ("server", "upstream_refused")),
        (("aiohttp.client_exceptions.ClientResponseError",), 401, ("server", "upstream_refused")),
        (("grpc._channel._InactiveRpcError", "grpc.RpcError"), 503, ("upstream", "unavailable")),
        (("botocore.exceptions.ClientError",), 429, ("upstream", "rate_limited")),
        (("shop.client.ApiError",), 502, ("upstream", "unavailable")),
        (("shop.client.ApiError",), 404, ("server", "exception")),
        # A web framework's exception is what the server itself wants to answer.
        (("starlette.exceptions.HTTPException",), 503, ("server", "exception")),
    ],
)
def test_a_status_decides_where_the_class_does_not(families: tuple[str, ...], status: int, expected: tuple[str, str]) -> None:
    """429 and 5xx are upstream's; a refusal (other 4xx) is the server's to mend: it sent that request."""
    assert of_families(*families, status=status) == expected


@pytest.mark.parametrize(
    "families",
    [
        ("builtins.ValueError",),
        ("builtins.FileNotFoundError", "builtins.OSError"),
        ("sqlalchemy.exc.IntegrityError", "sqlalchemy.exc.DatabaseError"),
        ("asyncpg.exceptions.UndefinedTableError", "asyncpg.exceptions.SyntaxOrAccessError"),
        ("sqlite3.OperationalError", "sqlite3.DatabaseError"),
        ("sqlalchemy.exc.OperationalError", "sqlalchemy.exc.DBAPIError", "sqlite3.OperationalError"),
        ("pydantic_core._pydantic_core.ValidationError", "builtins.ValueError"),
        ("shop.httpx.TimeoutException",),
    ],
    ids=lambda value: value[0],
)
def test_everything_else_that_a_tool_raises_is_the_servers(families: tuple[str, ...]) -> None:
    """Also a database file of its own, and a class that only has the name of a client's."""
    assert of_families(*families) == ("server", "exception")


def test_real_exceptions_are_told_apart() -> None:
    """Through the same road as in a call: describe, then derive."""
    url = "http://example.invalid"
    cases: list[tuple[BaseException, tuple[str, str]]] = [
        (ConnectionRefusedError("no"), ("upstream", "connection")),
        (TimeoutError(), ("upstream", "timeout")),
        (socket.gaierror(-2, "Name or service not known"), ("upstream", "connection")),
        (ssl.SSLError("bad"), ("upstream", "connection")),
        (RemoteDisconnected("gone"), ("upstream", "connection")),
        (urllib.error.URLError("no route"), ("upstream", "connection")),
        (urllib.error.HTTPError(url, 429, "slow down", Message(), None), ("upstream", "rate_limited")),
        (urllib.error.HTTPError(url, 404, "not here", Message(), None), ("server", "upstream_refused")),
        (ExceptionGroup("two", [ConnectionResetError("gone"), ValueError("x")]), ("upstream", "connection")),
        (KeyError("x"), ("server", "exception")),
        (KeyboardInterrupt(), ("cancelled", "interrupted")),
    ]
    for exc, expected in cases:
        found = of_exception(describe_exception(exc, limit_chars=500))
        assert (found.fault, found.category) == expected, exc


def test_exceptions_of_a_real_client_are_told_apart() -> None:
    """With the HTTP client that comes with FastMCP."""
    client = importlib.import_module("httpx2" if IS_V4 else "httpx")
    request = client.Request("GET", "http://example.invalid")
    cases: list[tuple[BaseException, tuple[str, str]]] = [
        (client.ConnectTimeout("late"), ("upstream", "timeout")),
        (client.ConnectError("refused"), ("upstream", "connection")),
        (client.HTTPStatusError("x", request=request, response=client.Response(503, request=request)), ("upstream", "unavailable")),
        (client.HTTPStatusError("x", request=request, response=client.Response(403, request=request)), ("server", "upstream_refused")),
    ]
    for exc, expected in cases:
        found = of_exception(describe_exception(exc, limit_chars=500))
        assert (found.fault, found.category) == expected, exc


@pytest.mark.parametrize("kind", ["unknown_tool", "bad_arguments"])
def test_refusals_before_the_tool_ran_are_the_callers(kind: str) -> None:
    """With the names of refused arguments."""
    names = ("size",) if kind == "bad_arguments" else ()
    found = of_exception(ExceptionFacts("ValidationError", "1 validation error", ("fastmcp.exceptions.ValidationError",), kind, names))

    assert (found.fault, found.category, found.bad_arguments) == ("caller", kind, names)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (ExceptionFacts("AuthorizationError", "no", ("fastmcp.exceptions.AuthorizationError",)), ("caller", "forbidden")),
        (
            ExceptionFacts(
                "RateLimitError", "no", ("fastmcp.server.middleware.rate_limiting.RateLimitError", "mcp.shared.exceptions.MCPError")
            ),
            ("caller", "too_many_calls"),
        ),
        (
            ExceptionFacts("MCPError", "Tool 'render' execution timed out after 0.2s", ("mcp.shared.exceptions.MCPError",)),
            ("server", "tool_timeout"),
        ),
        (ExceptionFacts("McpError", "Timed out while waiting for response", ("mcp.shared.exceptions.McpError",)), ("upstream", "timeout")),
        (ExceptionFacts("ToolError", "choose another scene", ("fastmcp.exceptions.ToolError",)), ("server", "tool_error")),
        (
            ExceptionFacts("ToolError", "The catalogue is rate limited, try later", ("fastmcp.exceptions.ToolError",)),
            ("upstream", "rate_limited"),
        ),
        (ExceptionFacts("ToolError", "size must be at least 1", ("fastmcp.exceptions.ToolError",)), ("caller", "bad_arguments")),
    ],
    ids=lambda value: value.type_name if isinstance(value, ExceptionFacts) else None,
)
def test_fastmcps_own_errors_have_their_faults(facts: ExceptionFacts, expected: tuple[str, str]) -> None:
    """A tool that overran its own time limit is the server's; a ToolError speaks for itself."""
    found = of_exception(facts)

    assert (found.fault, found.category) == expected


@pytest.mark.parametrize(
    ("error_type", "cancelled", "expected"),
    [
        ("CancelledError", True, ("cancelled", "cancelled")),
        ("CancelledError", False, ("cancelled", "cancelled")),
        ("Interrupted", False, ("cancelled", "interrupted")),
        (None, False, ("server", "exception")),
    ],
)
def test_calls_that_were_cut_off_are_nobodys_fault(error_type: str | None, cancelled: bool, expected: tuple[str, str]) -> None:
    """Cancelled by the client, or by the server's end."""
    found = derive_failure(tool="t", outcome="error", error_type=error_type, error_message=None, exception=None, cancelled=cancelled)

    assert found is not None
    assert (found.fault, found.category) == expected


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("error: disk full", ("server", "reported")),
        ("error: queue 3 not found", ("server", "reported")),
        ("error: 404 Not Found", ("server", "reported")),
        ("status=error: rate limit exceeded", ("upstream", "rate_limited")),
        ("error: HTTP 429", ("upstream", "rate_limited")),
        ("error: request timed out after 30 s", ("upstream", "timeout")),
        ("error: connection refused by 10.0.0.1", ("upstream", "connection")),
        ("error: getaddrinfo ENOTFOUND queue.example", ("upstream", "connection")),
        ("statusCode=503: come back later", ("upstream", "unavailable")),
        ("error: Bad Gateway", ("upstream", "unavailable")),
        ("error: missing required parameter: size", ("caller", "bad_arguments")),
        ("success=False: size must be at least 1", ("caller", "bad_arguments")),
        ("error: parameter 'size' is required", ("caller", "bad_arguments")),
        ("ok=False", ("server", "reported")),
        ("ok=False: 500 rows could not be read", ("server", "reported")),
    ],
)
def test_soft_errors_are_judged_by_their_clear_words(message: str, expected: tuple[str, str]) -> None:
    """What is not clear is the server's own report."""
    assert of_soft_error(message) == expected


@pytest.mark.parametrize(
    ("result", "expected"), [({"status": 503}, "upstream"), ({"status_code": 404}, "server"), ({"code": True}, "server"), ([503], "server")]
)
def test_a_status_in_a_soft_errors_result_counts(result: Any, expected: str) -> None:
    """When the words are silent."""
    assert of_soft_error("ok=False", result)[0] == expected


def test_fingerprints_are_those_of_the_record() -> None:
    """Equal failures with other values have equal prints."""
    first, second = (
        of_exception(ExceptionFacts("OSError", f"no space for '/srv/{name}'", ("builtins.OSError",))).fingerprint
        for name in ("a.png", "b.png")
    )

    assert first == second
    assert first.startswith("f1-")


def test_the_table_of_families_uses_the_vocabulary() -> None:
    """Every group of the data is a category of upstream or one of the two that decide nothing."""
    groups = {group for classes in UPSTREAM.values() for group in classes.values()}

    assert groups == CATEGORIES["upstream"].keys() | {"by status", "own"}
