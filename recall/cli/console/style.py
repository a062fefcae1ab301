"""The look of the console, on top of that of the health page."""

from health.style import STYLE as COMMON

STYLE = (
    COMMON
    + """
.skip { position: absolute; left: -100rem } .skip:focus { left: 1rem; top: .5rem; background: var(--page);
  padding: .5rem 1rem; z-index: 1 }
header.bar { border-bottom: 1px solid var(--line); padding-top: .5rem; padding-bottom: .5rem }
header.bar nav ul { margin: 0; align-items: center }
header.bar a { display: inline-block; padding: .25rem .5rem; border-radius: .25rem; text-decoration: none }
header.bar a[aria-current] { background: var(--box); font-weight: 700; text-decoration: underline }
main { padding-bottom: 3rem }
ol.list { list-style: none; padding: 0; margin: 1rem 0 }
ol.list > li { border-top: 1px solid var(--line); padding: .6rem 0 }
ol.list > li:last-child { border-bottom: 1px solid var(--line) }
ol.list .head { display: flex; flex-wrap: wrap; gap: .1rem .75rem; align-items: baseline }
.words { white-space: pre-wrap; overflow-wrap: anywhere }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--box); border: 1px solid var(--line);
  border-radius: .5rem; padding: .75rem 1rem; font: .9em/1.45 ui-monospace, monospace; margin: .5rem 0 }
.badge { display: inline-block; border: 1px solid currentcolor; border-radius: 1rem; padding: 0 .5rem; font-size: .8rem;
  font-weight: 700 }
.bars { width: auto; max-width: 40rem } .bars svg { width: 10rem; height: .8rem; margin: .25rem 0 0 }
.bars td, .bars th { border: 0; padding: 0 .6rem 0 0; font-weight: 400; white-space: nowrap }
.bars td:last-child { font-variant-numeric: tabular-nums; color: var(--soft) }
.track { fill: var(--d0) } .plus { fill: var(--a) } .minus { fill: var(--fail) }
svg.gauge { display: inline-block; width: 8rem; height: .8rem; margin: 0; vertical-align: baseline }
.mark { fill: var(--text) }
.timeline > .row { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 19rem); gap: .25rem 1.25rem;
  padding: .6rem 0; border-top: 1px solid var(--line) }
.said.prompt { border-left: .3rem solid var(--a); padding-left: .75rem } .who { margin-bottom: .2rem }
.timeline aside { background: var(--box); border: 1px solid var(--line); border-radius: .5rem; padding: .5rem .75rem;
  font-size: .9rem; align-self: start }
.timeline aside ul, ul.calls { list-style: none; padding: 0; margin: .25rem 0 }
.timeline aside svg { width: 3rem; margin-right: .4rem }
.timeline aside li { padding: .1rem 0 } .said { align-self: start }
ul.calls li { overflow-wrap: anywhere; padding: .1rem 0 }
.paging { display: flex; justify-content: space-between; gap: 1rem; margin: 1rem 0 }
form.inline { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; align-items: center }
input, select, textarea, button { font: inherit; color: inherit; background: var(--page); border: 1px solid var(--soft);
  border-radius: .25rem; padding: .35rem .6rem; max-width: 100% }
input[type=search], input[type=text], textarea { flex: 1 1 16rem; min-width: 0 }
button { background: var(--box); cursor: pointer; font-weight: 700 }
button[disabled] { cursor: default; color: var(--soft) }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; margin: .75rem 0 }
dl.facts dt { color: var(--soft) } dl.facts dd { margin: 0; overflow-wrap: anywhere }
@media (max-width: 48rem) { .timeline > .row { grid-template-columns: minmax(0, 1fr) } }
@media (max-width: 30rem) { .bars svg { width: 5rem } .bars td:last-child { white-space: normal }
  .bars td, .bars th { padding-right: .4rem } }
@media print { header.bar, .paging, form { display: none } }
.proposal { font: .9em/1.5 ui-monospace, monospace; background: var(--box); border: 1px solid var(--line);
  border-radius: .5rem; padding: .75rem 1rem }
.line { display: flex } .line .gutter { flex: none; white-space: pre; color: var(--soft) }
.line .value { display: block; min-width: 0; white-space: pre-wrap; overflow-wrap: anywhere }
.line.title, .line.warning { font-weight: 700; padding-left: 2ch; text-indent: -2ch }
.line.title:not(:first-child) { margin-top: .75rem } .line.warning { color: var(--warn) }
.line.hash, .line.note { color: var(--soft) }
.escape { color: var(--fail); background: var(--d0); border-radius: .2rem }
.outcome { border: 1px solid var(--line); border-left: .3rem solid var(--link); border-radius: .5rem;
  padding: .5rem 1rem; background: var(--box); font-weight: 700; margin: .75rem 0 }
.decisions { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 0 2rem }
form.inline label { flex: 1 1 100%; display: flex; flex-direction: column; gap: .25rem }
form.inline label input, form.inline label textarea { flex: none; width: 100% }
h2 + ol.list { margin-top: 0 } h2 + ol.list > li:first-child { border-top: 0 }
blockquote { margin: .25rem 0; padding-left: 1rem; border-left: .2rem solid var(--line) }
@media (max-width: 40rem) { .line, .line .gutter { display: block } .line .rule { display: none }
  .line .gutter + .value { padding-left: 1ch; margin-left: 1ch; border-left: 2px solid var(--line) } }
"""
)
