"""The frame of a report: one HTML file for screens of any width and for paper; no script, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pagectl.outputs.svg_chart import safe

STYLE = """
:root{color-scheme:light dark;--fg:#1c2128;--bg:#fff;--soft:#59636e;--line:#d8dee4;--card:#f6f8fa;
--memory:#0b66c3;--disk:#b35900;--paging:#8a5cd6;--bad:#c62f3a;--warn:#9a6700;--track:#eaeef2}
@media (prefers-color-scheme:dark){:root{--fg:#e6edf3;--bg:#0d1117;--soft:#9198a1;--line:#30363d;--card:#151b23;
--memory:#58a6ff;--disk:#f0883e;--paging:#b392f0;--bad:#ff7b72;--warn:#d29922;--track:#21262d}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--fg);background:var(--bg);margin:2rem auto;
max-width:1200px;padding:0 1rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}h3{font-size:1rem;margin:1.5rem 0 .25rem}
p.sub,.soft{color:var(--soft);margin:.2rem 0}.scroll{overflow-x:auto}
figure{margin:1.5rem 0}figure h3{margin:0 0 .25rem}details{margin:.3rem 0}summary{cursor:pointer;color:var(--soft)}
table{border-collapse:collapse;width:100%;font-size:.9rem}th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);
text-align:left}
th{font-weight:600;color:var(--soft)}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td{overflow-wrap:anywhere}ul.findings{list-style:none;padding:0}
ul.findings li{padding:.45rem .7rem;margin:.3rem 0;background:var(--card);border-left:4px solid var(--line);
border-radius:3px}
li.w0,li.w1{border-color:var(--bad)!important}li.w2,li.w3,li.w4{border-color:var(--warn)!important}
svg{display:block;width:100%;height:auto;background:var(--card);border-radius:4px}
.grid{stroke:var(--line);stroke-width:1}.label{font:11px system-ui,sans-serif;fill:var(--soft)}
path{fill:none;stroke-width:1.6}.memory{stroke:var(--memory)}.disk{stroke:var(--disk)}
.limit{stroke:var(--bad);stroke-width:1.2;stroke-dasharray:6 4}.limited{font:11px system-ui,sans-serif;fill:var(--bad)}
.track{fill:var(--track)}.paging{fill:var(--paging)}.blocked{fill:var(--warn)}.lost{fill:var(--bad)}
.key span{margin-right:1.2rem;display:inline-block}
.key i{display:inline-block;width:1rem;height:.3rem;margin-right:.35rem;vertical-align:middle}
h3{overflow-wrap:anywhere}td:first-child{min-width:8rem}
.narrow{display:none}
@media screen and (max-width:40rem){body{margin:1rem auto;padding:0 .7rem}.wide,thead{display:none}
.narrow{display:block}table,tbody,tr,td{display:block}tr{padding:.35rem 0;border-bottom:1px solid var(--line)}
td,td.n{border:0;padding:0 .9rem 0 0;display:inline-block;text-align:left;white-space:normal}
td:first-child{display:block;font-weight:600}td:not(:first-child)::before{content:attr(data-is) " ";color:var(--soft)}}
@media print{:root{color-scheme:light;--fg:#000;--bg:#fff;--soft:#444;--line:#bbb;--card:#fff;--memory:#0b66c3;
--disk:#b35900;--paging:#8a5cd6;--bad:#c62f3a;--warn:#9a6700;--track:#eaeef2}
body{margin:0;max-width:none;font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
.scroll{overflow:visible}table{font-size:8pt}th,td{padding:.15rem .3rem}
figure,tr,ul.findings li{break-inside:avoid}h2,h3{break-after:avoid}details:not([open]){display:none}}
footer{margin:2.5rem 0 1rem;color:var(--soft);font-size:.85rem}
"""


def head(title: str) -> Iterator[str]:
    """Yield the document up to and including its heading."""
    yield '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width,initial-scale=1">'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>{safe(title)}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>{safe(title)}</h1>"


def foot(text: str) -> str:
    """Return the end of the document."""
    return f"<footer>{safe(text)}</footer></body></html>\n"


def table(columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a table; the flag of a column says whether it contains numbers."""
    css = [' class="n"' if number else "" for _, number in columns]
    heads = "".join(f"<th{c}>{safe(name)}</th>" for c, (name, _) in zip(css, columns, strict=True))
    yield f'<div class="scroll"><table><thead><tr>{heads}</tr></thead><tbody>'
    named = [f'{c} data-is="{safe(name)}"' for c, (name, _) in zip(css, columns, strict=True)]
    for row in rows:
        yield "<tr>" + "".join(f"<td{c}>{safe(cell)}</td>" for c, cell in zip(named, row, strict=True)) + "</tr>"
    yield "</tbody></table></div>"
