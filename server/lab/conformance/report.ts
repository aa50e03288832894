import { createHash } from 'node:crypto'
import { type JunitCase, junitXml } from '../junit.ts'
import { cells, html, htmlPage } from '../report-page.ts'
import type { Judgement } from './judge.ts'
import { failedNeed, sourceText, type Verdict } from './verdict.ts'

/** A judgement with its circumstances. */
interface ConformanceReport extends Judgement {
  media: string
  device: string
  /** Program with its version. */
  checkedBy: string
  /** Start, in ISO 8601. */
  startedAt: string
  milliseconds: number
}

const outcomes = ['broken', 'notProvoked', 'holds'] as const

/** Counts the verdicts of each outcome. */
export function countOutcomes(verdicts: readonly Verdict[]): Record<Verdict['outcome'], number> {
  const counts = { broken: 0, notProvoked: 0, holds: 0 }
  for (const { outcome } of verdicts) counts[outcome] += 1
  return counts
}

/** Returns the outcome of a run: nothing is said to be whole unless all rules were checked. */
function verdictSentence({ verdicts, interrupted }: Pick<ConformanceReport, 'verdicts' | 'interrupted'>): string {
  const { broken, holds, notProvoked } = countOutcomes(verdicts)
  const counts = `${broken} rules are broken, ${holds} hold, ${notProvoked} were not provoked.`
  if (interrupted) return `Interrupted, not all rules were checked: ${counts}`
  if (isLockedOut(verdicts))
    return `No verdict, the server refused to sign in while it was checked: ${counts} Wait a minute, and run it again.`
  return broken === 0 ? `Nothing is broken: ${holds} rules hold, ${notProvoked} were not provoked.` : counts
}

/** Returns verdicts by group, in the order of their first occurrence. */
function byGroup<V extends Verdict>(verdicts: readonly V[]): Map<string, V[]> {
  const groups = new Map<string, V[]>()
  for (const verdict of verdicts) groups.set(verdict.group, [...(groups.get(verdict.group) ?? []), verdict])
  return groups
}

/** Returns the report as JSON, for programs. Names are in snake case, as in the APIs. */
export function jsonReport({ startedAt, checkedBy, interrupted, verdicts, left, ...rest }: ConformanceReport): string {
  const rules = outcomes.flatMap((outcome) => verdicts.filter((verdict) => verdict.outcome === outcome))
  const counts = countOutcomes(verdicts)
  const report = {
    ...rest,
    checked_by: checkedBy,
    started_at: startedAt,
    interrupted,
    counts,
    left_on_server: left,
    rules,
  }
  return `${JSON.stringify(report, undefined, 2)}\n`
}

/** Returns the report as lines for people: what is broken first, then what could not be provoked, then numbers. */
export function tableReport(report: ConformanceReport): string[] {
  const { media, device, verdicts, left, milliseconds } = report
  const lines = [`Conformance of ${media} and ${device}`, '']
  for (const [group, broken] of byGroup(verdicts.filter(isBroken))) {
    lines.push(`Broken: ${group}`)
    for (const verdict of broken) lines.push(...brokenLines(verdict), '')
  }
  const open = verdicts.filter(isNotProvoked)
  if (open.length > 0) lines.push('Not provoked:')
  for (const [reason, ids] of idsByReason(open)) lines.push(...wrapped(`  ${reason}: `, ids))
  if (open.length > 0) lines.push('')
  for (const record of left) lines.push(`May be left on the server: ${record}`)
  for (const [group, all] of byGroup(verdicts)) {
    const { broken, notProvoked, holds } = countOutcomes(all)
    lines.push(
      `${group.padEnd(28)} ${count(holds, 'hold')}${count(broken, 'broken')}${count(notProvoked, 'not provoked')}`.trimEnd(),
    )
  }
  const seconds = (milliseconds / 1_000).toFixed(1)
  return [...lines, '', `${verdictSentence(report)} (${seconds} s)`]
}

/** Whether rules were not provoked because a sign-in with the right key was refused, as after many failures. */
export function isLockedOut(verdicts: readonly Verdict[]): boolean {
  return verdicts.filter(isNotProvoked).some(({ reason }) => reason.startsWith(failedNeed('authenticate')))
}

type Broken = Extract<Verdict, { outcome: 'broken' }>
type NotProvoked = Extract<Verdict, { outcome: 'notProvoked' }>

const isBroken = (verdict: Verdict): verdict is Broken => verdict.outcome === 'broken'
const isNotProvoked = (verdict: Verdict): verdict is NotProvoked => verdict.outcome === 'notProvoked'

function brokenLines({ id, sentence, source, expected, came, exchanges }: Broken): string[] {
  const last = exchanges.at(-1)
  return [
    `  ${id} (${sourceText(source)})`,
    `    ${sentence}`,
    ...(last === undefined ? [] : [`    sent      ${last.sent}`]),
    `    expected  ${expected}`,
    `    came      ${came}`,
  ]
}

function idsByReason(verdicts: readonly NotProvoked[]): Map<string, string[]> {
  const reasons = new Map<string, string[]>()
  for (const { id, reason } of verdicts) reasons.set(reason, [...(reasons.get(reason) ?? []), id])
  return reasons
}

const width = 120

/** Joins words by commas into lines of at most `width` characters. */
function wrapped(start: string, words: readonly string[]): string[] {
  const lines = [start]
  words.forEach((word, index) => {
    const text = index < words.length - 1 ? `${word}, ` : word
    const last = lines.at(-1) ?? ''
    if (last.length + text.length > width) lines.push(`    ${text}`)
    else lines[lines.length - 1] = last + text
  })
  return lines.map((line) => line.trimEnd())
}

/** Returns a column of a table row. */
function count(number: number, name: string): string {
  return (number === 0 ? '' : `${String(number).padStart(4)} ${name}`).padEnd(14)
}

/** Returns the report as JUnit XML: a test suite per group, a test case per rule. */
export function junitReport({ verdicts, startedAt, milliseconds }: ConformanceReport): string {
  const suites = Array.from(byGroup(verdicts), ([name, rules]) => ({ name, cases: rules.map(caseOf) }))
  return junitXml({ name: 'conformance', startedAt, milliseconds, suites })
}

function caseOf(verdict: Verdict): JunitCase {
  const { id, sentence, source } = verdict
  return { name: `${id}: ${sentence} (${sourceText(source)})`, result: resultOf(verdict) }
}

function resultOf(verdict: Verdict): JunitCase['result'] {
  switch (verdict.outcome) {
    case 'holds':
      return 'passed'
    case 'notProvoked':
      return { skipped: verdict.reason }
    case 'broken': {
      const { expected, came, exchanges } = verdict
      const details = exchanges.map(({ sent, came: answer }) => `${sent}\n  ${answer}`).join('\n')
      return { failed: `expected ${expected}, came ${came}`, details }
    }
  }
}

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
