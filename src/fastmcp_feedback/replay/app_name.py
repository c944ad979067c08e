"""A server named as `module:app`, and what is said when a server cannot be had."""

from __future__ import annotations

from keyword import iskeyword


class ServerError(Exception):
    """The server cannot be had; the text is one line for a person, `code` the exit code."""

    def __init__(self, text: str, hint: str = "", code: int = 1) -> None:
        super().__init__(text)
        self.hint = hint
        self.code = code


def split_app_name(text: str) -> tuple[str, str]:
    """Module (or file) and name of a server given as `module:app`.

    >>> split_app_name("studio.server:app"), split_app_name("server.py:app")
    (('studio.server', 'app'), ('server.py', 'app'))

    Raises:
        ServerError: it has another form.
    """
    module, _, name = text.rpartition(":")
    parts = module.split(".") if not module.endswith(".py") else ["file"]
    if not all(part.isidentifier() and not iskeyword(part) for part in (name, *parts)):
        raise ServerError(f"{text!r} is not of the form module:app or file.py:app", code=2)
    return module, name
