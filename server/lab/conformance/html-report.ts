import { createHash } from 'node:crypto'
import {
  byGroup,
  type ConformanceReport,
  countOutcomes,
  isBroken,
  jsonReport,
  sourceText,
  verdictSentence,
} from './report.ts'
import type { Verdict } from './verdict.ts'

const style = `
body { font: 14px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #ddd; }
th { font-weight: 600; } td.number, th.number { text-align: right; } code, pre { font: 12px/1.45 ui-monospace, monospace; overflow-wrap: anywhere; white-space: pre-wrap; margin: 0; }
article { border-left: 3px solid #b3261e; padding: 0 0 0 1rem; margin: 1rem 0; } article p { margin: 0; }
dl { display: grid; grid-template-columns: 6rem 1fr; margin: .25rem 0 0; } dt { color: #555; } dd { margin: 0; }
.verdict { font-size: 1.1rem; margin: 1rem 0; } .source, footer { color: #555; } footer { margin-top: 2rem; font-size: 12px; }
@media print { body { margin: 0; max-width: none; } tr, article { break-inside: avoid; } thead { display: table-header-group; } }
@page { margin: 15mm; }`

const outcomeNames: Readonly<Record<Verdict['outcome'], string>> = {
  holds: 'holds',
  broken: 'broken',
  notProvoked: 'not provoked',
}

/** Returns the report as a page to print. It needs no other file, and has the SHA-256 of the JSON report. */
export function htmlReport(report: ConformanceReport): string {
  const { media, device, checkedBy, startedAt, milliseconds, verdicts, left, interrupted } = report
  const facts = [
    ['Media room API', media],
    ['External device API', device],
    ['Start', startedAt],
    ['Duration', `${(milliseconds / 1_000).toFixed(1)} s`],
    ['Checked by', checkedBy],
  ]
  const digest = createHash('sha256').update(jsonReport(report)).digest('hex')
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${html(`Conformance of ${media}`)}</title>
<style>${style}</style>
<h1>Conformance report</h1>
<p class="verdict">${verdictSentence(verdicts)}${interrupted ? ' Interrupted: not all rules were checked.' : ''}</p>
<table>${facts.map((row) => `<tr>${cells(row)}</tr>`).join('\n')}</table>
${verdicts.filter(isBroken).length === 0 ? '' : `<h2>Broken</h2>\n${verdicts.filter(isBroken).map(brokenRule).join('\n')}`}
${left.length === 0 ? '' : `<h2>May be left on the server</h2>\n<p>${html(left.join(', '))}</p>`}
<h2>Groups</h2>
<table><thead><tr><th>Group</th><th class="number">Hold</th><th class="number">Broken</th><th class="number">Not provoked</th></tr></thead>
${[...byGroup(verdicts)].map(groupRow).join('\n')}</table>
${[...byGroup(verdicts)].map(groupRules).join('\n')}
<footer>SHA-256 of the JSON report: <code>${digest}</code></footer>
</html>
`
}

function brokenRule({
  id,
  sentence,
  source,
  expected,
  came,
  exchanges,
}: Extract<Verdict, { outcome: 'broken' }>): string {
  const rows = [...exchanges.slice(-1).map(({ sent }) => ['sent', sent]), ['expected', expected], ['came', came]]
  const list = rows.map(([name = '', text = '']) => `<dt>${name}</dt><dd><code>${html(text)}</code></dd>`).join('')
  return `<article><p><code>${html(id)}</code> <span class="source">${sourceText(source)}</span></p><p>${html(sentence)}</p><dl>${list}</dl></article>`
}

function groupRow([group, verdicts]: readonly [string, readonly Verdict[]]): string {
  const { holds, broken, notProvoked } = countOutcomes(verdicts)
  const numbers = [holds, broken, notProvoked].map((number) => `<td class="number">${number}</td>`).join('')
  return `<tr><td>${html(group)}</td>${numbers}</tr>`
}

function groupRules([group, verdicts]: readonly [string, readonly Verdict[]]): string {
  const rows = verdicts.map((verdict) => {
    const reason = verdict.outcome === 'notProvoked' ? `: ${verdict.reason}` : ''
    const outcome = `${outcomeNames[verdict.outcome]}${reason}`
    return `<tr><td><code>${html(verdict.id)}</code></td>${cells([verdict.sentence, sourceText(verdict.source), outcome])}</tr>`
  })
  const head = '<thead><tr><th>Rule</th><th>Sentence</th><th>Source</th><th>Outcome</th></tr></thead>'
  return `<h2>${html(group)}</h2>\n<table>${head}\n${rows.join('\n')}</table>`
}

function cells(texts: readonly string[]): string {
  return texts.map((text) => `<td>${html(text)}</td>`).join('')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Escapes a text for HTML. */
function html(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? '')
}
