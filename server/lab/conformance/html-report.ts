import { createHash } from 'node:crypto'
import { cells, html, htmlPage } from '../html-page.ts'
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

const outcomeNames: Readonly<Record<Verdict['outcome'], string>> = {
  holds: 'holds',
  broken: 'broken',
  notProvoked: 'not provoked',
}

/** Returns the report as a page to print. It needs no other file, and has the SHA-256 of the JSON report. */
export function htmlReport(report: ConformanceReport): string {
  const { media, device, checkedBy, startedAt, milliseconds, verdicts, left } = report
  const facts = [
    ['Media room API', media],
    ['External device API', device],
    ['Start', startedAt],
    ['Duration', `${(milliseconds / 1_000).toFixed(1)} s`],
    ['Checked by', checkedBy],
  ]
  const digest = createHash('sha256').update(jsonReport(report)).digest('hex')
  const body = `<h1>Conformance report</h1>
<p class="verdict">${html(verdictSentence(report))}</p>
<table>${facts.map((row) => `<tr>${cells(row)}</tr>`).join('\n')}</table>
${verdicts.filter(isBroken).length === 0 ? '' : `<h2>Broken</h2>\n${verdicts.filter(isBroken).map(brokenRule).join('\n')}`}
${left.length === 0 ? '' : `<h2>May be left on the server</h2>\n<p>${html(left.join(', '))}</p>`}
<h2>Groups</h2>
<table><thead><tr><th>Group</th><th class="number">Hold</th><th class="number">Broken</th><th class="number">Not provoked</th></tr></thead>
${[...byGroup(verdicts)].map(groupRow).join('\n')}</table>
${[...byGroup(verdicts)].map(groupRules).join('\n')}
<footer>SHA-256 of the JSON report: <code>${digest}</code></footer>`
  return htmlPage('en', `Conformance of ${media}`, body)
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
