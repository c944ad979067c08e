"""`docs/redaction.md`, made from the rules themselves."""

from __future__ import annotations

from typing import Final

from .keywords import DEFAULT_SUFFIXES, WEAK_WORDS
from .kinds import ALL, CLASSES
from .rules import RULES

_HEAD: Final = """# Redaction

<!-- Made by `python tools/gen_redaction_docs.py` from the rules; do not edit by hand. -->

`Redactor` removes secrets before anything is stored, sent or logged. It looks at three things: the **key** a value stands
under, the **shape** of a value, and the **words before it** in a text. `fastmcp-feedback redact --explain FILE` shows what
would go from a file and by which rule, never the value.

```python
from fastmcp_feedback.instrumentation import Redactor

redactor = Redactor(extra_keys=["internal_ref"], extra_patterns=[r"ACME-[0-9]{6}"], pii=("email", "card"))
redactor.redact({"apiKey": "k-123", "note": "postgres://app:pw-9f@db/main"})
# {'apiKey': '[REDACTED]', 'note': 'postgres://app:[REDACTED]@db/main'}
```

| option | default | meaning |
|---|---|---|
| `keys` | none | exact key names that are secret |
| `patterns` | the built-in shapes | patterns instead of them; what a secret word announces goes in any case |
| `extra_keys`, `extra_patterns` | none | in addition; a group named `secret` in a pattern says which part goes |
| `suffixes` | the list below | endings that make a key secret, instead of the built-in ones |
| `pii` | none | groups of personal data to remove too: `email`, `card`, `iban`, `phone`, `ssn` |
| `replacement` | `"[REDACTED]"` | what stands where a secret was |
| `max_depth` | 32 | containers nested deeper become `"[TRUNCATED]"` |

A pattern that does not compile is a ValueError, and so is one that could backtrack without bound while google-re2 (the
extra `fast`) is not installed. A subclass may override `redact`, `redact_text` or `is_secret_key`; everything that is
recorded then goes through it.

## What is promised

- A secret key's value goes whole, at any depth, whatever its type; `None` stays `None`. Two things stay readable because
  they hold no secret: a reference to a value kept elsewhere (`${DB_PASSWORD}`, `{"secretKeyRef": ...}`), and a word or a JSON
  Schema that speaks *about* the secret (`{"password": "expired"}`, `{"token": {"type": "string"}}`).
- Keys match whatever their case, `-`, `_`, `.`, space or camelCase: `X-Api-Key`, `apiKey`, `spring.datasource.password`.
- Secret-shaped values go wherever they stand in a text: in values, in keys, in bytes, in JSON or query strings inside
  strings, in command lines, in base64 that holds readable text.
- Containers nested deeper than `max_depth` (32) become `"[TRUNCATED]"`. Redaction comes before cutting.
- Every rule takes time linear in the text, and none is searched for on its own: a few passes find candidates, and only
  those are looked at. Long texts are worked on in slices of 48 kB.

## Carry-over

A value removed from a call's arguments is removed wherever it stands in everything recorded after it for that call: error
text, result, identity, extra and events, also in meta mode. A value found in the result is removed from error and extra.
Feedback linked to the call is cleaned too while the call is in this process's memory; for that only keyed hashes are kept.

Covered are the value as it is, JSON-escaped (once and twice), URL-encoded and as base64 of the whole value, the token
behind `Bearer` and its like, the password inside `Basic`, and each value of a cookie header. **Not covered:** values
shorter than six characters, common words (`password`, `production`, `localhost`), values of one or two different
characters, other encodings, hashes and parts of a value. The sealed form for feedback covers the plain value only.

## What is not removed

Hashes, UUIDs, git commits, image data, numbers that count tokens (`max_tokens`), short cursors (`next_page_token`), prose
about passwords, validation messages, code, paths and names. A secret without a telling key, shape or word before it (a bare
random string in prose) cannot be told from an identifier and stays.
"""


def render() -> str:
    """The whole page."""
    parts = [_HEAD, _keys(), _rules(), _kinds(), _letters()]
    return "\n".join(parts)


def _keys() -> str:
    endings = ", ".join(f"`{suffix}`" for suffix in DEFAULT_SUFFIXES)
    weak = ", ".join(f"`{word}`" for word in sorted(WEAK_WORDS))
    return f"""## Keys

A key is secret when its last words are one of these (words such as `value`, `hash` or `prod` behind them change nothing):

{endings}.

Secret only when the value looks like one: {weak}, and any other `*_key`.
"""


def _rules() -> str:
    rows = [f"| `{rule.name}` | {rule.what} | {_code(rule.example)} | {_code(rule.near_miss)} |" for rule in RULES]
    head = "## Rules\n\n| rule | what goes | example (the part in «») | stays |\n|---|---|---|---|\n"
    return head + "\n".join(rows) + "\n"


def _kinds() -> str:
    out = [f"## Kinds by shape ({len(ALL)})\n\nExamples are made up and shortened. `shape` is explained below.\n"]
    for family in dict.fromkeys(kind.family for kind in ALL):
        rows = [kind for kind in ALL if kind.family == family]
        out.append(f"### {family} ({len(rows)})\n\n| kind | shape | example | published |\n|---|---|---|---|")
        for kind in rows:
            starts = ", ".join(f"`{prefix}`" for prefix in kind.prefixes[:4]) + (" …" if len(kind.prefixes) > 4 else "")
            note = ", looks random" if kind.loose else ""
            out.append(f"| {kind.name} | {starts} then `{kind.form}`{note} | `{kind.shown()}` | [source]({kind.where}) |")
        out.append("")
    return "\n".join(out)


def _letters() -> str:
    rows = "\n".join(f"| `{letter}` | `{chars.replace(chr(92), '')}` |" for letter, chars in CLASSES.items())
    return (
        "## How a shape is written\n\n`w36` is at least 36 characters of class `w`, `w36!` exactly 36, `w12-32` 12 to 32; a quoted part "
        f"stands as it is, `i1` is a UUID.\n\n| class | characters |\n|---|---|\n{rows}\n"
    )


def _code(text: str) -> str:
    return "`" + text.replace("\n", "⏎").replace("|", "\\|").replace("`", "'") + "`"
