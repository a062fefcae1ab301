"""The look of pages made here: light and dark by the reader's own choice, readable at 390 pixels and on paper."""

STYLE = """
:root { color-scheme: light dark; --page: #fff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --box: #f6f8fa;
  --ok: #1a7f37; --warn: #8a5a00; --fail: #b42318; --link: #0950b8; --a: #0950b8; --b: #a1460b; --c: #6f3fb8;
  --d0: #eaeef2; --d1: #b6d4f7; --d2: #6ba5ec; --d3: #2f73c9; --d4: #0a3f86 }
@media (prefers-color-scheme: dark) { :root { --page: #0f1317; --text: #e6edf3; --soft: #a3adb8; --line: #39424d;
  --box: #181d23; --ok: #56d364; --warn: #e3b341; --fail: #ff8f85; --link: #79b8ff; --a: #79b8ff; --b: #ffa657;
  --c: #d2a8ff; --d0: #222931; --d1: #173a63; --d2: #1f5fa8; --d3: #4792e0; --d4: #a5d0ff } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 100%/1.5 system-ui, sans-serif }
header, main, footer { max-width: 72rem; margin: 0 auto; padding: 0 1rem }
h1 { font-size: 1.6rem; margin: 1rem 0 0 }
h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line) }
h3 { font-size: 1rem; margin: 0 0 .25rem }
p, ul, dl { margin: .25rem 0 }
p, li, dd, td, h1, h3, code { overflow-wrap: anywhere }
a { color: var(--link) }
nav ul, ul.row { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1rem; padding: 0 }
.soft { color: var(--soft) }
.ok { color: var(--ok) } .warn { color: var(--warn) } .fail { color: var(--fail) }
.level { font-weight: 700 }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 1rem; margin: 1rem 0 }
.cards > div, article, figure { background: var(--box); border: 1px solid var(--line); border-radius: .5rem;
  padding: .75rem 1rem; margin: 0 }
.cards dt { color: var(--soft) } .cards dd { margin: 0; font-size: 1.1rem }
article { margin: .75rem 0; border-left-width: .3rem; scroll-margin-top: 1rem }
article.fail { color: inherit; border-left-color: var(--fail) }
article.warn { color: inherit; border-left-color: var(--warn) }
code { font: .9em ui-monospace, monospace; background: var(--page); border: 1px solid var(--line);
  border-radius: .25rem; padding: 0 .3rem }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem }
figure { min-width: 0 } figure.wide { margin: .75rem 0 } figure.wide svg { max-width: 48rem }
figcaption { font-weight: 700 }
svg { display: block; width: 100%; height: auto; margin: .5rem 0 }
svg text { fill: var(--soft); font-size: 11px }
.axis, .s0, .s1, .s2 { fill: none }
.axis { stroke: var(--line) } .s0 { stroke: var(--a) } .s1 { stroke: var(--b) } .s2 { stroke: var(--c) }
.s0, .s1, .s2 { stroke-width: 2; stroke-linejoin: round } .s1 { stroke-dasharray: 6 3 } .s2 { stroke-dasharray: 2 3 }
.dot { stroke-width: 6; stroke-linecap: round; stroke-dasharray: none }
.d0 { fill: var(--d0) } .d1 { fill: var(--d1) } .d2 { fill: var(--d2) } .d3 { fill: var(--d3) } .d4 { fill: var(--d4) }
svg.key { display: inline-block; width: 2rem; height: .75rem; margin: 0 .4rem 0 0 }
svg.square { display: inline-block; width: .75rem; height: .75rem; margin: 0 .4rem 0 0 }
.year { display: flex; flex-wrap: wrap; gap: 0 1rem } .year svg { flex: 0 1 28rem; min-width: min(100%, 18rem) }
.scroll { overflow-x: auto } figure .scroll { max-height: 24rem }
time { white-space: nowrap }
td:first-child { overflow-wrap: break-word }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; vertical-align: top; padding: .2rem .6rem .2rem 0; border-bottom: 1px solid var(--line) }
.numbers :is(td, th):not(:first-child) { text-align: right; font-variant-numeric: tabular-nums }
#signals th:first-child { width: 35% } #signals th:nth-child(2) { width: 4rem }
summary { cursor: pointer; color: var(--link) }
.todo { margin-top: .5rem } .charts + p { margin-top: 1rem }
article, figure, #signals details { content-visibility: auto; contain-intrinsic-size: auto 12rem }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
:target { outline: 2px solid var(--link) }
@media (min-width: 48rem) { #signals th:first-child { width: 18rem } }
@media (forced-colors: active) { .axis { stroke: GrayText } .s0, .s1, .s2 { stroke: CanvasText }
  .d0, .d1, .d2, .d3, .d4 { fill: CanvasText } .d0 { fill-opacity: .1 } .d1 { fill-opacity: .35 }
  .d2 { fill-opacity: .55 } .d3 { fill-opacity: .75 } svg text { fill: CanvasText }
  .level.fail, .level.warn { text-decoration: underline } }
@media print { :root { color-scheme: light; --page: #fff; --text: #000; --soft: #444; --line: #999; --box: #fff;
  --ok: #1a7f37; --warn: #8a5a00; --fail: #b42318; --link: #000; --a: #0950b8; --b: #a1460b; --c: #6f3fb8;
  --d0: #eaeef2; --d1: #b6d4f7; --d2: #6ba5ec; --d3: #2f73c9; --d4: #0a3f86 }
  @page { margin: 15mm } body { font-size: 10pt } header, main, footer { max-width: none; padding: 0 }
  nav, figure details:not([open]) { display: none } .scroll, figure .scroll { max-height: none; overflow: visible }
  article, figure, #signals details { content-visibility: visible } article, figure, tr { break-inside: avoid }
  h2, h3, summary, thead { break-after: avoid } summary { list-style: none } svg { print-color-adjust: exact } }
"""
