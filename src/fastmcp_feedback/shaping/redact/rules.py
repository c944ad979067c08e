"""The rules that are no vendor's format, each with an example and a harmless text that looks alike.

In an example the part that goes stands in «». The secrets are put together from pieces, so that scanners of source hosts
do not take them for real ones.
"""

from __future__ import annotations

# ruff: noqa: E501 - one entry a line
from dataclasses import dataclass
from typing import Final

_PW: Final = "Zq8xT4mK" + "w2Vb7Rn"
_HEX: Final = "4f9c1e2d" + "3b4a5968" * 3
_B64: Final = "U2VjcmV0" + "L2tleStmb3IvdGVzdHM" * 4
_DASHES: Final = "-----"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule by context or structure. `example` marks what goes with «»; `near_miss` stays as it is."""

    name: str
    what: str
    example: str
    near_miss: str


RULES: Final = (
    Rule("secret-key", "the whole value under a secret key (structure)", f'{{"dbPassword": "«{_PW}»"}}', '{"password_policy": "strict"}'),
    Rule("command-flag", "the argument behind a secret flag (structure)", f'["--password", "«{_PW}»"]', '["--password-stdin", "run"]'),
    Rule("secret-key-value", "the value behind a secret word: `=`, `:`, quotes, JSON, YAML, XML, flags, prose", f"password=«{_PW}»", "password: must be at least 12 characters"),
    Rule("authorization-header", "credentials in `Authorization` and proxy headers, the scheme stays", f"Authorization: Bearer «{_PW}»", "Authorization is handled by the gateway"),
    Rule("bearer-token", "a long token behind `Bearer`", f"sent bearer «{_PW}{_PW}»", "the bearer certificate was presented"),
    Rule("basic-credentials", "base64 of user and password behind `Basic`", "sent Basic «dXNlcjpw" + "YXNzd29yZDE»", "Basic authenticationscheme is off"),
    Rule("cookie-header", "the values of `Cookie` and `Set-Cookie`, attributes stay", f"Set-Cookie: sid=«{_PW}»; Path=/", "cookie: a small text that a site stores"),
    Rule("url-password", "the password in a URL or DSN", f"postgres://app:«{_PW}»@db/main", "http://localhost:8080/@scope/pkg"),
    Rule("url-token", "a token in the place of a URL's user", f"https://«{_HEX}»@git.example.com/a.git", "ssh://git@git.example.com/a.git"),
    Rule("url-parameter", "a signature, code or key in a query", f"/cb?state=x&code=«4/0Ab{_PW}»", "/search?code=de&page=2"),
    Rule("slack-webhook", "the path of a Slack webhook", f"https://hooks.slack.com/services/«T0001/B0001/{_PW}»", "https://hooks.slack.com/docs"),
    Rule("discord-webhook", "the token of a Discord webhook", f"https://discord.com/api/webhooks/81234567890123/«{_PW}{_PW}»", "https://discord.com/api/guilds/81234567890123"),
    Rule("telegram-bot-url", "the token in a Telegram URL", f"https://api.telegram.org/bot«81234567:AA{_PW}{_PW}»/getMe", "https://api.telegram.org/docs"),
    Rule("teams-webhook", "the path of a Teams webhook", f"https://acme.webhook.office.com/webhookb2/«{_HEX}@{_HEX}/IncomingWebhook/{_HEX}/{_HEX}»", "https://outlook.office.com/mail/inbox"),
    Rule("google-chat-webhook", "key and token of a Google Chat webhook", f"https://chat.googleapis.com/v1/spaces/AAA/messages?key=«{_PW}&token={_PW}»", "https://chat.googleapis.com/v1/spaces/AAA"),
    Rule("zapier-webhook", "the path of a Zapier hook", "https://hooks.zapier.com/hooks/catch/«1234567/" + "b3x9k2q»", "https://hooks.zapier.com/hooks/list"),
    Rule("ifttt-webhook", "the key of an IFTTT hook", f"https://maker.ifttt.com/trigger/x/with/key/«{_PW}»", "https://maker.ifttt.com/use"),
    Rule("make-webhook", "the path of a Make hook", f"https://hook.eu1.make.com/«{_PW}x7k2m9»", "https://hook.eu1.make.com/status"),
    Rule("healthchecks-ping", "the id of a healthchecks.io check", "https://hc-ping.com/«8d3becc0-eec7-4ede" + "-9625-7d9ce1cfa0ce»", "https://hc-ping.com/about"),
    Rule("feishu-webhook", "the id of a Feishu hook", f"https://open.feishu.cn/open-apis/bot/v2/hook/«{_HEX}»", "https://open.feishu.cn/document"),
    Rule("lark-webhook", "the id of a Lark hook", f"https://open.larksuite.com/open-apis/bot/v2/hook/«{_HEX}»", "https://open.larksuite.com/document"),
    Rule("infura-url", "the project key in an Infura URL", f"https://mainnet.infura.io/v3/«{_HEX}»", "https://mainnet.infura.io/v3"),
    Rule("alchemy-url", "the key in an Alchemy URL", f"https://eth-mainnet.g.alchemy.com/v2/«{_PW}{_PW}»", "https://www.alchemy.com/docs"),
    Rule("private-key", "the body of a private key in PEM, OpenSSH, PGP or PuTTY form", f"{_DASHES}BEGIN PRIVATE KEY{_DASHES}«\n{_B64}\n»{_DASHES}END PRIVATE KEY{_DASHES}", f"{_DASHES}BEGIN CERTIFICATE{_DASHES}\n{_B64}\n{_DASHES}END CERTIFICATE{_DASHES}"),
    Rule("password-hash", "crypt, bcrypt, argon2, scrypt and PBKDF2 hashes", "app:«$6$" + "saltsalt$" + "Q7" * 43 + "»:19700:0", "it costs $6$ or $5 a month"),
    Rule("sql-password", "`IDENTIFIED BY '...'`", f"CREATE USER x IDENTIFIED BY '«{_PW}»'", "identified by the auditor 'Ada'"),
    Rule("command-password", "passwords of commands with options of their own", f"mysql -u app -p«{_PW}» main", "mysql -u app -p main"),
    Rule("telegram-bot-token", "a bot's number and token", f"bot 81234567:«AA{_PW}{_PW}x7»".replace(" 81234567:«", " «81234567:"), "ratio 81234567:1"),
    Rule("salesforce-session", "an org id and session", f"00D{_PW[:12]}!«AQ{_PW * 5}»".replace("00D", "«00D", 1).replace("!«", "!"), "00D5g000004 is an org!"),
    Rule("azure-client-secret", "an Entra client secret", f"«abc8Q~{_PW}{_PW}x7»", "abc~Q is a name"),
    Rule("openai-infix", "any key with OpenAI's mark inside", f"«{_PW}x7kT3Blbk" + f"FJ{_PW}x7k»", "T3BlbkFJ is base64 of OpenAI"),
    Rule("azure-cask-key", "a key with Azure's common signature", f"«{_PW}{_PW}{_PW}{_PW[:7]}JQQJ9" + f"9AKACi{_PW}»", "JQQJ99 marks such keys"),
    Rule("azure-identifiable-key", "a key with the signature of an Azure service", f"«{_PW * 5}A+AS" + "tDk3xQ==»", "AStD is a signature"),
    Rule("vendor-style-token", "`vendor_live_...`, `xyz_pat_...` with an unknown start", f"«acme_live_{_PW}{_PW}»", "my_api_key_rotation_in_production"),
    Rule("base64-wrapped", "base64 of a readable text with a secret in it", "«cGFzc3dvcmQ9WnE4" + "eFQ0bUt3MlZiN1Ju»", "aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91Pw=="),
    Rule("host-pattern", "a match of the host's own patterns", "ref «ACME-123456»", "ref ACME-12"),
    Rule("email", "an e-mail address (opt-in)", "mail «ada@example.com» today", "see @scope/pkg"),
    Rule("card", "a payment card's number with a right check digit (opt-in)", "card «4539 5787 " + "6362 1486»", "order 4539 5787 6362 1487"),
    Rule("iban", "an IBAN with a right checksum (opt-in)", "to «GB33BUKB2020" + "1555555555»", "to GB33BUKB20201555555556"),
    Rule("phone", "a phone number (opt-in)", "call «+44 20 7946 " + "0018» now", "dated 2026-01-05 at 10:20"),
    Rule("ssn", "a US social security number (opt-in)", "ssn «536-58-" + "6663» on file", "range 000-58-6663"),
)  # fmt: skip
