"""The words by which a key is known to hold a secret, and those that say it does not. Data only; `keys.py` reads it."""

from __future__ import annotations

# ruff: noqa: E501 - word lists
from typing import Final

# Names that are secret whatever stands before them (`db_password`, `client secret`). Compared segment by segment, so
# `author` is not `auth`.
DEFAULT_SUFFIXES: Final = (
    "password", "passwd", "pwd", "pw", "pswd", "passphrase", "passcode", "passwort", "kennwort", "wachtwoord", "contraseña",
    "passe", "пароль", "密码", "口令", "パスワード", "비밀번호",
    "secret", "secrets", "token", "credential", "credentials", "cookie", "cookies", "authorization", "authorisation",
    "jwt", "otp", "totp", "psk", "mnemonic", "api keys", "access keys", "secret keys", "private keys",
    "access tokens", "api tokens", "auth tokens", "refresh tokens", "session tokens", "bearer tokens", "passwords",
    "api key", "apikey", "access key", "secret key", "private key", "priv key", "master key", "encryption key", "encrypt key",
    "decryption key", "signing key", "signature key", "account key", "storage key", "subscription key", "auth key",
    "authentication key", "authorization key", "shared key", "preshared key", "pre shared key", "service key", "service role key",
    "service account key", "ssh key", "rsa key", "aes key", "hmac key", "gpg key", "pgp key", "webhook key", "deploy key",
    "server key", "function key", "functions key", "management key", "write key", "ingest key", "ingestion key", "license key",
    "admin key", "root key", "client key", "consumer key", "session key", "host key", "shared access key", "app key",
    "application key", "integration key", "security key", "user key", "sas token",
    "security code", "cvv", "mfa code", "otp code", "totp code",
    "two factor code", "2fa code", "verification code", "recovery code", "recovery codes", "backup code", "backup codes",
    "auth code", "authorization code", "code verifier",
    "connection string", "conn string", "conn str", "connection str", "connection strings",
    "session cookie", "auth header", "authorization header", "key pem", "htpasswd", "keytab", "unlock key",
)  # fmt: skip

# Written as one word, these make a key secret at its end: `mysqlpassword`, `useraccesstoken`.
JOINED: Final = (
    "password", "passwd", "passphrase", "passcode", "apikey", "accesskey", "secretkey", "privatekey", "accesstoken", "authtoken",
    "refreshtoken", "sessiontoken", "bearertoken", "bottoken", "usertoken", "apitoken", "clientsecret", "appsecret", "apisecret",
    "webhooksecret", "sharedsecret", "authorization", "mysqlpwd", "dbpwd", "userpw", "bindpw", "dbpw", "sharedaccesskey", "accountkey", "connectionstring",
    "securitytoken", "privatetoken", "personaltoken", "deploytoken", "idtoken", "csrftoken", "xsrftoken", "signingkey", "masterkey",
    "encryptionkey", "subscriptionkey", "passwort", "kennwort", "contraseña", "пароль", "密码",
)  # fmt: skip

# After one of these, `token` or `tokens` counts or pages; it opens nothing.
TOKEN_PREFIXES: Final = frozenset(
    (
        "next", "page", "continuation", "continue", "cont", "sync", "cursor", "pagination", "paging", "prev", "previous", "resume",
        "resumption", "skip", "max", "min", "num", "n", "total", "eos", "bos", "pad", "padding", "unk", "unknown", "sep", "cls",
        "mask", "special", "stop", "start", "end", "first", "last", "input", "output", "prompt", "completion", "reasoning", "cached",
        "cache", "thinking", "progress", "change", "delta", "watermark", "marker", "idempotency", "cancellation", "cancel", "image",
        "audio", "text", "design", "per", "avg", "average", "mean", "used", "remaining", "limit", "budget", "context", "generated",
        "new", "vocab", "added", "extra", "per_second", "list", "more", "batch", "unexpected", "invalid", "syntax", "lexer", "parse",
        "parsed", "current", "scroll", "search", "forward", "backward", "job", "partial", "of", "hidden", "visible", "line", "word",
    )
)  # fmt: skip

# `*_key` that names a place or a column. Any other `*_key` counts when its value looks random.
PLAIN_KEYS: Final = frozenset(
    (
        "primary", "foreign", "public", "sort", "partition", "object", "cache", "row", "dedup", "dedupe", "idempotency", "routing",
        "shard", "lookup", "hot", "shortcut", "composite", "natural", "surrogate", "unique", "index", "group", "issue", "project",
        "translation", "i18n", "message", "s3", "file", "bucket", "storage_object", "hash", "range", "map", "dict", "json", "order",
        "event", "metric", "config", "env", "setting", "label", "tag", "feature", "flag", "state", "publishable", "pub", "anon",
        "candidate", "parent", "child", "entity", "record", "artifact", "blob", "image", "the", "a", "by", "merge", "join", "data",
        "locale", "answer", "column", "field", "lock", "queue", "topic", "stream", "commit", "build", "restore", "etag", "batch",
    )
)  # fmt: skip

# Segments behind a secret word that change nothing: `password_hash`, `api_key_prod`, `SECRET_KEY_BASE`.
NEUTRAL: Final = frozenset(
    (
        "value", "val", "string", "str", "text", "plain", "plaintext", "cleartext", "raw", "hash", "hashed", "encrypted", "enc", "b64",
        "base64", "hex", "env", "var", "prod", "production", "dev", "development", "test", "testing", "staging", "stage", "live",
        "old", "new", "current", "previous", "prev", "backup", "primary", "secondary", "confirm", "confirmation", "again", "repeat",
        "base", "input", "pem", "binary", "header", "param", "default", "main", "sandbox", "internal", "external", "master", "dot",
        "local", "int", "uat", "qa", "eu", "us", "one", "two", "data",
    )
)  # fmt: skip

# `*_pass` that is a password; elsewhere (`first_pass`, `boarding_pass`) the value must look like one.
PASS_PREFIXES: Final = frozenset(
    (
        "db", "user", "smtp", "mail", "email", "ftp", "sftp", "ssh", "sudo", "root", "admin", "login", "my", "mysql", "pg", "postgres",
        "redis", "auth", "proxy", "http", "https", "ldap", "rabbit", "rabbitmq", "mongo", "mongodb", "web", "wifi", "imap", "pop",
        "database", "mq", "amqp", "vpn", "registry", "docker", "git", "gh", "keystore", "truststore", "key", "cert", "ssl", "tls", "rpc", "default", "guest", "bind", "sasl",
    )
)  # fmt: skip

# Questions and switches about a secret: `has_password`, `requireToken`.
QUESTIONS: Final = frozenset(
    ("is", "has", "show", "hide", "require", "requires", "required", "needs", "allow", "allows", "enable", "enabled", "disable", "should", "can", "supports",
     "missing", "forgot", "no", "want", "wants", "with", "without", "uses")
)  # fmt: skip

# Keys that hold a secret only when the value looks like one.
WEAK_WORDS: Final = frozenset(
    ("pass", "auth", "pin", "sess", "sessid", "tokens", "key", "creds", "cred", "session", "privkey", "passkey", "authn")
)  # fmt: skip

# Cookies that carry a session, written without a `Cookie:` header.
SESSION_COOKIES: Final = frozenset(
    (
        "phpsessid", "jsessionid", "asp.net_sessionid", "connect.sid", "sessionid", "laravel_session", "remember_token", "csrftoken",
        "xsrf-token", "sessid", "session", "_session_id", "rack.session", "cfid", "cftoken", "ci_session", "user_session",
        "logged_in_session", "wordpress_logged_in", "_forum_session", "sid", "auth_session", "ssid", "sapisid", "hsid", "li_at",
    )
)  # fmt: skip

# Names of cookies and URL parameters whose value is a signature or a one-time code.
URL_KEYS: Final = frozenset(
    (
        "sig", "signature", "code", "auth", "key", "k", "sid", "ticket", "hmac", "x-amz-signature", "x-goog-signature", "hash", "pass",
        "pw", "session", "sessionid", "session_id", "jsessionid", "phpsessid", "oauth_signature", "st", "subscription-key", "appid",
        "confirmation_token", "reset", "invite", "otp", "state_token", "samlresponse", "samlrequest", "assertion", "wsig", "verify",
    )
)  # fmt: skip
