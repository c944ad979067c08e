"""The keys by which results speak of failures, whatever their spelling: `error_message`, `errorMessage`, `Error-Message`."""

from __future__ import annotations

from typing import Any, Final

MAX_KEYS: Final = 64  # of a dict that are looked at
_MAX_KEY_CHARS: Final = 40
_MEMO: Final = 4096

# Role -> keys in lower case without `_`, `-` and spaces.
ROLES: Final[dict[str, frozenset[str]]] = {
    role: frozenset(words.split())
    for role, words in {
        "status": "status state outcome responsestatus callstatus resultstatus",
        "flag": "ok success succeeded successful issuccess issuccessful wassuccessful",
        "bad_flag": "iserror haserror haserrors errored failed isfailure isfailed errorflag hasfailed timedout istimeout",
        "error": "error err errorinfo errordetail errordetails odata.error fault exception failure",
        "error_text": "errormessage errormsg errmsg errstr errortext errordescription errorstring errorreason failurereason"
        " failuremessage faultstring exceptionmessage errorsummary errorcause fatalerror parseerror validationerror queryerror apierror",
        "errors": "errors errormessages errorlist validationerrors fielderrors exceptions",
        "http": "statuscode httpstatus httpstatuscode httpcode responsecode",
        "code": "code errorcode errcode errno sqlcode sqlstate retcode resultcode subcode apicode",
        "error_kind": "errortype errorname exceptiontype exceptionclass errorclass functionerror type object kind name",
        "exit": "exitcode returncode exitstatus exit rc",
        "message": "message msg detail details reason description title statustext statusmessage hint info cause explanation note"
        " stderr body helptext suggestion",
        "worked": "succeeded success successful successes successcount succeededcount successfulcount created updated deleted inserted"
        " imported processed added sent indexed uploaded written applied",
        "went_wrong": "failed failures failedcount failurecount failedentrycount failedrecordcount failedputcount errorcount rejected"
        " unprocessed",
        "batch": "result results responses outcomes operations",
        "envelope": "result data response output payload body",
        "tasktype": "__type",
    }.items()
}
_BY_KEY: Final[dict[str, tuple[str, ...]]] = {}
for _role, _words in ROLES.items():
    for _word in _words:
        _BY_KEY[_word] = (*_BY_KEY.get(_word, ()), _role)

_NOTHING: Final[tuple[str, ...]] = ()
_memo: dict[str, tuple[str, ...]] = {}


def roles_of(key: Any) -> tuple[str, ...]:
    """What a key may stand for; empty for an ordinary key."""
    known = _memo.get(key) if type(key) is str else _NOTHING
    if known is None:
        plain = key[: _MAX_KEY_CHARS + 1].lower().replace("_", "").replace("-", "").replace(" ", "") if key != "__type" else key
        known = _BY_KEY.get(plain, _NOTHING)
        if len(_memo) >= _MEMO:
            _memo.clear()
        if len(key) <= _MAX_KEY_CHARS:
            _memo[key] = known
    return known


# Values that say "no failure" at once, so that no rule need look at them.
_GOOD_STATUS: Final = frozenset({
    "ok", "success", "succeeded", "successful", "completed", "complete", "done", "running", "open", "closed", "active", "pending",
    "healthy", "ready", "created", "accepted", "queued", "started", "finished", "online", "up", "enabled", "published", "merged",
    "draft", "passed", "stopped",
})  # fmt: skip
_TRUTHY_ROLES: Final = frozenset({"error", "error_text", "errors", "bad_flag", "exit", "code", "went_wrong", "tasktype", "message"})
_GENERAL_KINDS: Final = frozenset({"type", "object", "kind", "name"})
_KIND_BEGINNINGS: Final = ("about:", "urn:", "http", "/")


def _matters(role: str, key: str, value: Any) -> bool:
    """Can a rule make anything of this value?"""
    if role in _TRUTHY_ROLES:
        return bool(value)
    if role == "status":
        return value not in _GOOD_STATUS if isinstance(value, str) else isinstance(value, int) and value >= 400
    if role == "flag":
        return value is not True and not isinstance(value, (list, dict))
    if role == "error_kind":
        if not isinstance(value, str):
            return False
        if key not in _GENERAL_KINDS:
            return bool(value)
        return value.endswith(("rror", "xception", "ault", "ailure")) or value.startswith(_KIND_BEGINNINGS)
    return True


class Parts:
    """A dict's first entries by role: role -> (key, value) pairs in the dict's order."""

    __slots__ = ("by_role", "result")

    def __init__(self, result: dict[Any, Any]) -> None:
        self.result = result
        self.by_role: dict[str, list[tuple[str, Any]]] = {}
        for number, key in enumerate(result):
            if number >= MAX_KEYS:
                break
            for role in roles_of(key):
                value = result[key]
                if _matters(role, key, value):
                    self.by_role.setdefault(role, []).append((key, value))

    def of(self, role: str) -> list[tuple[str, Any]]:
        """The entries of a role."""
        return self.by_role.get(role, _NO_ENTRIES)

    def text(self, *roles: str) -> str:
        """The first non-blank string of these roles."""
        for role in roles:
            for _, value in self.of(role):
                if says(value):
                    return str(value)
        return ""


def says(value: Any) -> bool:
    """Is this a text with anything but blanks at its beginning? Does not walk a long one."""
    return isinstance(value, str) and bool(value[:200].strip())


_NO_ENTRIES: Final[list[tuple[str, Any]]] = []
