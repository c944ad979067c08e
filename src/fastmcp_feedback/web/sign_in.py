"""The form for signing in: the one page for those who may see nothing, no file of ours included."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import Final

_STYLE: Final = (
    ":root{color-scheme:light dark}"
    "body{margin:0;min-height:100vh;display:grid;place-items:center;font:15px/1.5 system-ui,sans-serif;"
    "color:light-dark(#1a2127,#e3e8ec);background:light-dark(#f5f6f7,#11161a)}"
    "main{box-sizing:border-box;width:min(24rem,calc(100vw - 2rem));padding:1.5rem 1.75rem;border-radius:10px;"
    "border:1px solid light-dark(#e1e5e9,#2a333a);background:light-dark(#fff,#181e23)}"
    "h1{margin:0;font-size:1.3rem}p{margin:.25rem 0 1rem;color:light-dark(#55606a,#a0acb6)}form{display:grid;gap:.35rem}"
    "input,button{box-sizing:border-box;width:100%;min-height:2.4rem;padding:.25rem .6rem;font:inherit;color:inherit;"
    "border:1px solid light-dark(#89949e,#65727d);border-radius:7px;background:transparent}"
    "button{margin-top:.65rem;border:0;cursor:pointer;font-weight:600;color:light-dark(#fff,#0b1a16);background:light-dark(#0d6654,#5fc7ab)}"
    ":focus-visible{outline:2px solid light-dark(#0d6654,#5fc7ab);outline-offset:2px}"
)
STYLE_SOURCE: Final = f"'sha256-{base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()}'"
"""What a Content-Security-Policy has to allow: this text and no other."""


def sign_in_page(action: str, said: str = "") -> str:
    """The page; `action` takes the form, `said` tells what went wrong.

    >>> "<p>That is not it.</p>" in sign_in_page("/login", "That is not it.")
    True
    """
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Sign in</title><style>{_STYLE}</style></head><body><main><h1>Sign in</h1>"
        f"<p>{escape(said) or 'This page is for those who hold its token.'}</p>"
        f'<form method="post" action="{escape(action)}"><label for="token">Token</label>'
        '<input id="token" type="password" name="token" autocomplete="current-password" autofocus required>'
        "<button>Sign in</button></form></main></body></html>"
    )
