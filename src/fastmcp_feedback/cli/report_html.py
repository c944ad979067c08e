"""A report as one HTML file: no script, nothing loaded from elsewhere, charts as SVG, light and dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, Final

from .output import count, error_text, milliseconds, plain, share
from .report_data import Report

_WIDTH, _HEIGHT = 720, 160
_STYLE: Final = """
:root{color-scheme:light dark;--text:#1c1e21;--back:#fff;--soft:#666;--line:#ddd;--ok:#2c7a5b;--bad:#c0392b;--mid:#b7791f}
@media(prefers-color-scheme:dark){:root{--text:#e6e6e6;--back:#16181b;--soft:#9aa0a6;--line:#333;--ok:#5bbf95;--bad:#ef7b6c;--mid:#e0b050}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--text);background:var(--back);max-width:62rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.1rem;margin-top:2.2rem}p.soft,caption,td.soft{color:var(--soft)}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{font-weight:600}.n{text-align:right;white-space:nowrap}.bad{color:var(--bad)}.ok{color:var(--ok)}
td.text{overflow-wrap:anywhere}svg{width:100%;height:auto}svg text{fill:var(--soft);font-size:11px}
.facts{display:flex;gap:2rem;flex-wrap:wrap}.facts b{display:block;font-size:1.4rem}
"""


def page(report: Report) -> str:
    """The whole file."""
    health = report.health
    failed = health.failed / health.calls if health.calls else 0.0
    chosen = ", ".join(f"{name} {value}" for name, value in report.chosen.items()) or "all recorded calls"
    facts = [("calls", count(health.calls)), ("failed", share(failed)), ("tools", str(len(health.tools))),
             ("kinds of failure", str(len(report.failures)))]  # fmt: skip
    parts = [
        f"<h1>Tool calls</h1><p class=soft>{_text(chosen)}. {_text(report.database)}, made {report.made_at:%Y-%m-%d %H:%M} UTC.</p>",
        "<div class=facts>" + "".join(f"<div><b>{_text(value)}</b>{name}</div>" for name, value in facts) + "</div>",
        _section("Calls over time", _times(report)),
        _section("Latency over time", _latency(report)),
        _section("How long calls take", _durations(report)),
        _section("Tools", _tools(report)),
        _section("Failures", _failures(report)),
        _section("Flailing", _flailing(report)),
        _section("Language models", _models(report)),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>Tool calls</title><style>{_STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _text(value: Any) -> str:
    return escape(plain("" if value is None else value))


def _section(title: str, body: str) -> str:
    return f"<h2>{title}</h2>{body}" if body else ""


def _table(headings: Sequence[str], numbers: set[int], rows: Iterable[Sequence[Any]]) -> str:
    """A table; columns at `numbers` are set to the right."""

    def cell(tag: str, place: int, value: Any) -> str:
        return f"<{tag} class={'n' if place in numbers else 'text'}>{_text(value)}</{tag}>"

    head = "".join(cell("th", place, value) for place, value in enumerate(headings))
    body = "".join(f"<tr>{''.join(cell('td', place, value) for place, value in enumerate(row))}</tr>" for row in rows)
    return f"<div class=wide><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>" if body else ""


def _tools(report: Report) -> str:
    before = {change.tool: change for change in report.health.window}
    rows = []
    for tool in report.health.tools:
        change = before.get(tool.tool)
        was = "" if change is None or change.before is None else share(change.before.failed_share)
        rows.append((tool.tool, count(tool.calls), share(tool.failed_share), was, milliseconds(tool.p50_ms), milliseconds(tool.p95_ms),
                     milliseconds(tool.p99_ms), milliseconds(tool.max_ms), tool.users, tool.conversations))  # fmt: skip
    names = ("tool", "calls", "failed", "before", "p50", "p95", "p99", "max", "users", "conversations")
    return _table(names, set(range(1, 10)), rows)


def _failures(report: Report) -> str:
    rows = [
        (count(group.calls), group.tool, group.fault, error_text(group.error_type, group.message), f"{group.first_seen:%Y-%m-%d %H:%M}",
         f"{group.last_seen:%Y-%m-%d %H:%M}", group.users)
        for group in report.failures
    ]  # fmt: skip
    return _table(("calls", "tool", "fault", "error", "first seen", "last seen", "users"), {0, 6}, rows)


def _flailing(report: Report) -> str:
    rows = [
        (f"{flail.score:g}", flail.tool, flail.kind.replace("_", " "), len(flail.calls), milliseconds(flail.wasted_ms),
         "worked" if flail.resolved else "failed", f"{flail.started_at:%Y-%m-%d %H:%M}", flail.conversation_key or flail.user_sub)
        for flail in report.flailing.findings
    ]  # fmt: skip
    return _table(("score", "tool", "what", "calls", "lost", "ended", "began (UTC)", "conversation"), {0, 3, 4}, rows)


def _models(report: Report) -> str:
    rows = [
        (use.model, use.calls, use.failed, f"{use.input_tokens:,}", f"{use.output_tokens:,}", milliseconds(use.p50_ms),
         milliseconds(use.p95_ms), "" if use.cost is None else f"{use.cost:,.4g}")
        for use in report.models
    ]  # fmt: skip
    return _table(("model", "calls", "failed", "tokens in", "tokens out", "p50", "p95", "cost"), set(range(1, 8)), rows)


# -- charts: bars from (label, parts); every bar says its numbers in a title


def _times(report: Report) -> str:
    bars = [
        (f"{bucket.start:%Y-%m-%d %H:%M} UTC: {count(bucket.calls)} calls, {count(bucket.failed)} failed",
         [(bucket.failed, "--bad"), (bucket.calls - bucket.failed, "--ok")])
        for bucket in report.times
    ]  # fmt: skip
    return _bars(bars, "calls", *_ends(report))


def _latency(report: Report) -> str:
    bars = []
    for bucket in report.times:
        p50, p95 = bucket.p50_ms or 0.0, bucket.p95_ms or 0.0
        said = f"p50 {milliseconds(p50)}, p95 {milliseconds(p95)}" if bucket.calls else "no calls"
        bars.append((f"{bucket.start:%Y-%m-%d %H:%M} UTC: {said}", [(p50, "--ok"), (p95 - p50, "--mid")]))
    return _bars(bars, "ms: p50, p95", *_ends(report))


def _durations(report: Report) -> str:
    spans = [f"{milliseconds(bucket.low_ms)} to {milliseconds(bucket.high_ms) or 'more'}" for bucket in report.durations]
    bars = [
        (f"{span}: {count(bucket.calls)} calls, {count(bucket.failed)} failed",
         [(bucket.failed, "--bad"), (bucket.calls - bucket.failed, "--ok")])
        for span, bucket in zip(spans, report.durations, strict=True)
    ]  # fmt: skip
    if not bars:
        return ""
    last = report.durations[-1]
    return _bars(bars, "calls", milliseconds(report.durations[0].low_ms), milliseconds(last.high_ms or last.low_ms))


def _ends(report: Report) -> tuple[str, str]:
    if not report.times:
        return "", ""
    return f"{report.times[0].start:%Y-%m-%d %H:%M}", f"{report.times[-1].end:%Y-%m-%d %H:%M}"


def _bars(bars: Sequence[tuple[str, Sequence[tuple[float, str]]]], unit: str, low: str, high: str) -> str:
    top = max((sum(value for value, _ in parts) for _, parts in bars), default=0.0)
    if not top:
        return ""
    step = _WIDTH / len(bars)
    drawn = []
    for place, (title, parts) in enumerate(bars):
        y = float(_HEIGHT)
        shapes = []
        for value, colour in parts:
            height = max(0.0, value) / top * (_HEIGHT - 20)
            y -= height
            shapes.append(
                f'<rect x="{place * step:.1f}" y="{y:.1f}" width="{max(1.0, step - 1):.1f}" height="{height:.1f}" fill="var({colour})"/>'
            )
        drawn.append(f"<g><title>{_text(title)}</title>{''.join(shapes)}</g>")
    labels = (
        f'<text x="0" y="12">{top:,.4g} {_text(unit)}</text><text x="0" y="{_HEIGHT + 16}">{_text(low)}</text>'
        f'<text x="{_WIDTH}" y="{_HEIGHT + 16}" text-anchor="end">{_text(high)}</text>'
    )
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT + 22}" role="img" aria-label="{_text(unit)}">{"".join(drawn)}{labels}</svg>'
