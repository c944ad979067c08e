"""Exception families as data: which errors of which libraries mean that something upstream did not answer as it should.

Matched by the library's top-level package and the class's own name, so that a library may move its modules about and
nothing of it is ever imported.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

TIMEOUT: Final = "timeout"
CONNECTION: Final = "connection"
RATE_LIMITED: Final = "rate_limited"
UNAVAILABLE: Final = "unavailable"
# Not a category: the HTTP status on the exception decides.
BY_STATUS: Final = "by status"
# Not a category: a failure of the server's own that only derives from a class below.
OWN: Final = "own"


def _table(**groups: str) -> dict[str, str]:
    return {name: group for group, names in groups.items() for name in names.split()}


_HTTPX: Final = _table(
    timeout="TimeoutException ConnectTimeout ReadTimeout WriteTimeout PoolTimeout",
    connection="TransportError NetworkError ConnectError ReadError WriteError CloseError ProtocolError RemoteProtocolError ProxyError"
    " TooManyRedirects RequestError",
) | {"HTTPStatusError": BY_STATUS, "LocalProtocolError": OWN, "UnsupportedProtocol": OWN, "DecodingError": CONNECTION}

# SDKs made by one generator: openai, anthropic and others.
_SDK: Final = _table(
    timeout="APITimeoutError",
    connection="APIConnectionError",
    rate_limited="RateLimitError",
    unavailable="InternalServerError OverloadedError ServiceUnavailableError",
) | {"APIStatusError": BY_STATUS}

_DBAPI: Final = _table(
    timeout="TimeoutError QueryCanceled QueryCanceledError PoolTimeout",
    connection="OperationalError InterfaceError DisconnectionError PoolError PoolClosed TooManyRequests",
) | {"DeadlockDetected": OWN, "SerializationFailure": OWN, "LockNotAvailable": OWN}

UPSTREAM: Final[dict[str, dict[str, str]]] = {
    "builtins": {"TimeoutError": TIMEOUT, "ConnectionError": CONNECTION},
    "socket": _table(connection="gaierror herror"),
    "ssl": {"SSLError": CONNECTION},
    "http": _table(connection="RemoteDisconnected IncompleteRead BadStatusLine"),
    "urllib": {"HTTPError": BY_STATUS, "URLError": CONNECTION, "ContentTooShortError": CONNECTION},
    "smtplib": _table(connection="SMTPServerDisconnected SMTPConnectError"),
    "ftplib": {"error_temp": UNAVAILABLE},
    "httpx": _HTTPX,
    "httpx2": _HTTPX,
    "httpcore": _HTTPX,
    "httpcore2": _HTTPX,
    "anyio": _table(connection="BrokenResourceError EndOfStream ConnectionFailed"),
    "aiohttp": _table(
        timeout="ServerTimeoutError ConnectionTimeoutError SocketTimeoutError",
        connection="ClientConnectionError ClientPayloadError ClientOSError ServerDisconnectedError ClientConnectorError WebSocketError",
    )
    | {"ClientResponseError": BY_STATUS, "ClientHttpProxyError": CONNECTION},
    "requests": _table(
        timeout="Timeout ConnectTimeout ReadTimeout",
        connection="ConnectionError ProxyError SSLError ChunkedEncodingError ContentDecodingError RetryError TooManyRedirects",
    )
    | {"HTTPError": BY_STATUS},
    "urllib3": _table(
        timeout="TimeoutError ConnectTimeoutError ReadTimeoutError",
        connection="NewConnectionError MaxRetryError ProtocolError ProxyError SSLError IncompleteRead NameResolutionError ConnectionError",
    ),
    "grpc": {"RpcError": BY_STATUS},
    "grpclib": {"GRPCError": BY_STATUS, "StreamTerminatedError": CONNECTION},
    "websockets": _table(timeout="TimeoutError", connection="ConnectionClosed InvalidHandshake") | {"InvalidStatus": BY_STATUS},
    "paramiko": _table(connection="NoValidConnectionsError SSHException"),
    "asyncpg": _table(
        timeout="QueryCanceledError IdleInTransactionSessionTimeoutError IdleSessionTimeoutError",
        connection="PostgresConnectionError ConnectionDoesNotExistError ConnectionFailureError InterfaceError InternalClientError"
        " InvalidAuthorizationSpecificationError",
        unavailable="TooManyConnectionsError CannotConnectNowError AdminShutdownError CrashShutdownError",
    ),
    "psycopg": _DBAPI | _table(unavailable="TooManyConnections AdminShutdown CannotConnectNow CrashShutdown"),
    "psycopg_pool": _DBAPI,
    "psycopg2": _DBAPI,
    "pymysql": _table(connection="OperationalError InterfaceError"),
    "MySQLdb": _table(connection="OperationalError InterfaceError"),
    "mysql": _table(
        timeout="ReadTimeoutError WriteTimeoutError ConnectionTimeoutError", connection="OperationalError InterfaceError PoolError"
    ),
    "aiomysql": _table(connection="OperationalError InterfaceError"),
    "pyodbc": _table(connection="OperationalError InterfaceError"),
    "oracledb": _table(connection="OperationalError InterfaceError"),
    "sqlalchemy": _DBAPI,
    "redis": _table(
        timeout="TimeoutError",
        connection="ConnectionError MaxConnectionsError ClusterDownError MasterDownError MasterNotFoundError",
        unavailable="BusyLoadingError TryAgainError ClusterError",
    ),
    "valkey": _table(timeout="TimeoutError", connection="ConnectionError", unavailable="BusyLoadingError"),
    "pymongo": _table(
        timeout="NetworkTimeout ServerSelectionTimeoutError ExecutionTimeout WTimeoutError WaitQueueTimeoutError",
        connection="ConnectionFailure AutoReconnect NotPrimaryError",
    ),
    "elastic_transport": _table(timeout="ConnectionTimeout", connection="ConnectionError TransportError TlsError")
    | {"ApiError": BY_STATUS},
    "elasticsearch": {"ApiError": BY_STATUS, "ConnectionTimeout": TIMEOUT, "ConnectionError": CONNECTION},
    "opensearchpy": _table(timeout="ConnectionTimeout", connection="ConnectionError") | {"TransportError": BY_STATUS},
    "neo4j": _table(unavailable="ServiceUnavailable TransientError", connection="SessionExpired IncompleteCommit"),
    "kafka": _table(timeout="KafkaTimeoutError", connection="KafkaConnectionError NoBrokersAvailable"),
    "pika": _table(connection="AMQPConnectionError ConnectionClosed"),
    "botocore": _table(
        timeout="ConnectTimeoutError ReadTimeoutError",
        connection="ConnectionError EndpointConnectionError ConnectionClosedError HTTPClientError ProxyConnectionError SSLError",
    )
    | {"ClientError": BY_STATUS},
    "azure": _table(timeout="ServiceRequestTimeoutError ServiceResponseTimeoutError", connection="ServiceRequestError ServiceResponseError")
    | {"HttpResponseError": BY_STATUS},
    "google": _table(
        timeout="DeadlineExceeded GatewayTimeout RetryError",
        rate_limited="TooManyRequests ResourceExhausted",
        unavailable="ServerError ServiceUnavailable BadGateway InternalServerError",
        connection="TransportError",
    )
    | {"GoogleAPICallError": BY_STATUS, "APIError": BY_STATUS, "HttpError": BY_STATUS},
    "googleapiclient": {"HttpError": BY_STATUS},
    "openai": _SDK,
    "anthropic": _SDK,
    "groq": _SDK,
    "mistralai": {"SDKError": BY_STATUS, "HTTPValidationError": BY_STATUS},
    "cohere": {"ApiError": BY_STATUS},
    "stripe": _table(connection="APIConnectionError", rate_limited="RateLimitError") | {"StripeError": BY_STATUS},
    "github": {"GithubException": BY_STATUS, "RateLimitExceededException": RATE_LIMITED},
    "gitlab": {"GitlabError": BY_STATUS},
    "slack_sdk": {"SlackApiError": BY_STATUS},
    "kubernetes": {"ApiException": BY_STATUS},
    "docker": {"APIError": BY_STATUS},
    "playwright": {"TimeoutError": TIMEOUT},
    "selenium": {"TimeoutException": TIMEOUT},
}

# Frameworks whose exceptions with a status are the server's own words, never an upstream's.
OWN_STATUS: Final = frozenset({"starlette", "fastapi", "werkzeug", "flask", "django", "aiohttp.web", "mcp", "fastmcp"})


def split(family: str) -> tuple[str, str]:
    """Top-level package and class name of a qualified name.

    >>> split("httpx._exceptions.ConnectTimeout")
    ('httpx', 'ConnectTimeout')
    """
    return family.partition(".")[0], family.rpartition(".")[2]


def category_of(families: Iterable[str]) -> str | None:
    """The first category that a family has, nearest class first; `BY_STATUS` and `OWN` included.

    SQLite is a file of the server's own: what goes wrong with it is the server's, whatever wraps it.
    """
    families = tuple(families)
    if any(family.startswith("sqlite3.") for family in families):
        return OWN
    for family in families:
        package, name = split(family)
        found = UPSTREAM.get(package, {}).get(name)
        if found is not None:
            return found
    return None
