import type { ReplayedCall } from './replay.ts'

/** Result of a replay. */
export interface ReplayReport {
  calls: number
  /** Calls with the recorded answer. */
  alike: number
  /** Calls with another answer, or without one, in the order of the recording. */
  unlike: readonly ReplayedCall[]
  /** Duration of the replay, in milliseconds. */
  took: number
}

/** Maximum number of calls, and of fields of one call, that the text lists. */
const maxListed = 50
const maxFields = 5
const maxValue = 60

/** Returns the lines of a report for people: the summary, then each call with another answer. */
export function reportLines({ calls, alike, unlike, took }: ReplayReport): string[] {
  const unanswered = unlike.filter(({ ret }) => ret === undefined).length
  const summary = [
    `${calls} calls in ${(took / 1_000).toFixed(1)} s: ${alike} answered as recorded`,
    ...(unlike.length > unanswered ? [`${unlike.length - unanswered} answered differently`] : []),
    ...(unanswered > 0 ? [`${unanswered} not answered`] : []),
  ]
  const listed = unlike.slice(0, maxListed).flatMap(callLines)
  const more = unlike.length > maxListed ? [`… and ${unlike.length - maxListed} more: see --json FILE`] : []
  return [`${summary.join(', ')}.`, ...listed, ...more]
}

function callLines({ number, call, ret, differences, failure }: ReplayedCall): string[] {
  const head = `  #${number} ${call.operation} at ${(call.at / 1_000).toFixed(1)} s`
  if (ret === undefined) return [`${head}: the server ${failure ?? 'sent no answer'}`]
  if (ret !== call.ret) return [`${head}: ret ${call.ret} was recorded, ${ret} came`]
  const fields = differences.slice(0, maxFields).map(({ field, recorded, found }) => {
    return `    ${field}: ${shown(recorded)} was recorded, ${shown(found)} came`
  })
  const more = differences.length > maxFields ? [`    … and ${differences.length - maxFields} more fields`] : []
  return [`${head}: other fields`, ...fields, ...more]
}

function shown(value: unknown): string {
  if (value === undefined) return 'nothing'
  const text = JSON.stringify(value)
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text
}

/** Returns the report as a JSON text. */
export function reportJson({ calls, alike, unlike, took }: ReplayReport): string {
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
  return `${JSON.stringify({ calls, alike, took, differing }, undefined, 2)}\n`
}
