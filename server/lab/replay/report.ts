import { type JunitCase, junitXml } from '../junit.ts'
import type { ReplayedCall } from './replay.ts'

/** Result of a replay. */
interface ReplayReport {
  /** All calls, in the order of the recording. */
  replayed: readonly ReplayedCall[]
  /** Start, in ISO 8601. */
  startedAt: string
  /** Duration of the replay, in milliseconds. */
  took: number
}

/** Whether a call was answered as recorded. */
export function isAlike({ call, ret, differences }: ReplayedCall): boolean {
  return ret === call.ret && differences.length === 0
}

/** Maximum number of calls, and of fields of one call, that the text lists. */
const maxListed = 50
const maxFields = 5
const maxValue = 60

/** Returns the lines of a report for people: the summary, then each call with another answer. */
export function reportLines({ replayed, took }: ReplayReport): string[] {
  const unlike = replayed.filter((one) => !isAlike(one))
  const unanswered = unlike.filter(({ ret }) => ret === undefined).length
  const alike = replayed.length - unlike.length
  const summary = [
    `${replayed.length} calls in ${(took / 1_000).toFixed(1)} s: ${alike} answered as recorded`,
    ...(unlike.length > unanswered ? [`${unlike.length - unanswered} answered differently`] : []),
    ...(unanswered > 0 ? [`${unanswered} not answered`] : []),
  ]
  const listed = unlike.slice(0, maxListed).flatMap(callLines)
  const more = unlike.length > maxListed ? [`… and ${unlike.length - maxListed} more: see --json FILE`] : []
  return [`${summary.join(', ')}.`, ...listed, ...more]
}

function callLines(replayed: ReplayedCall): string[] {
  const { call, ret, differences } = replayed
  const head = `  ${callTitle(replayed)}`
  if (ret === undefined) return [`${head}: ${failureText(replayed)}`]
  if (ret !== call.ret) return [`${head}: ret ${call.ret} was recorded, ${ret} came`]
  const fields = differenceLines(replayed)
    .slice(0, maxFields)
    .map((line) => `    ${line}`)
  const more = differences.length > maxFields ? [`    … and ${differences.length - maxFields} more fields`] : []
  return [`${head}: other fields`, ...fields, ...more]
}

/** Returns number, operation and recorded time of a call. */
function callTitle({ number, call }: ReplayedCall): string {
  return `#${number} ${call.operation} at ${(call.at / 1_000).toFixed(1)} s`
}

/** Returns why a call has no answer. */
function failureText({ failure }: ReplayedCall): string {
  return `the server ${failure ?? 'sent no answer'}`
}

/** Returns a line for each field that is not as recorded. */
function differenceLines({ differences }: ReplayedCall): string[] {
  return differences.map(({ field, recorded, found }) => {
    return `${field}: ${shown(recorded)} was recorded, ${shown(found)} came`
  })
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
}

/** Returns the report as a JSON text. */
export function reportJson({ replayed, took }: ReplayReport): string {
  const unlike = replayed.filter((one) => !isAlike(one))
  const differing = unlike.map(({ number, call, ret, differences, failure, took: answeredIn }) => ({
    number,
    operation: call.operation,
    at: call.at,
    recorded_ret: call.ret,
    ret: ret ?? null,
    ...(failure !== undefined && { failure }),
    differences,
    took: answeredIn,
  }))
  const calls = replayed.length
  return `${JSON.stringify({ calls, alike: calls - unlike.length, took, differing }, undefined, 2)}\n`
}

/** Returns the report as JUnit XML: a test suite per operation, a test case per call. */
export function junitReport({ replayed, startedAt, took }: ReplayReport): string {
  const byOperation = Map.groupBy(replayed, ({ call }) => call.operation)
  const suites = Array.from(byOperation, ([name, calls]) => ({ name, cases: calls.map(caseOf) }))
  return junitXml({ name: 'replay', startedAt, milliseconds: took, suites })
}

function caseOf(replayed: ReplayedCall): JunitCase {
  return { name: callTitle(replayed), result: resultOf(replayed) }
}

function resultOf(replayed: ReplayedCall): JunitCase['result'] {
  const { call, ret } = replayed
  if (isAlike(replayed)) return 'passed'
  if (ret === undefined) return { failed: failureText(replayed) }
  if (ret !== call.ret) return { failed: `ret ${call.ret} was recorded, ${ret} came` }
  return { failed: 'other fields', details: differenceLines(replayed).join('\n') }
}
