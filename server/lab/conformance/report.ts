import type { Judgement } from './judge.ts'
import { failedNeed, type Source, type Verdict } from './verdict.ts'

/** A judgement with its circumstances. */
export interface ConformanceReport extends Judgement {
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
export function verdictSentence({
  verdicts,
  interrupted,
}: Pick<ConformanceReport, 'verdicts' | 'interrupted'>): string {
  const { broken, holds, notProvoked } = countOutcomes(verdicts)
  const counts = `${broken} rules are broken, ${holds} hold, ${notProvoked} were not provoked.`
  if (interrupted) return `Interrupted, not all rules were checked: ${counts}`
  if (isLockedOut(verdicts))
    return `No verdict, the server refused to sign in while it was checked: ${counts} Wait a minute, and run it again.`
  return broken === 0 ? `Nothing is broken: ${holds} rules hold, ${notProvoked} were not provoked.` : counts
}

/** Returns verdicts by group, in the order of their first occurrence. */
export function byGroup<V extends Verdict>(verdicts: readonly V[]): Map<string, V[]> {
  const groups = new Map<string, V[]>()
  for (const verdict of verdicts) groups.set(verdict.group, [...(groups.get(verdict.group) ?? []), verdict])
  return groups
}

export function sourceText({ document, section }: Source): string {
  return `${document} ${section}`
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

export const isBroken = (verdict: Verdict): verdict is Broken => verdict.outcome === 'broken'
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
