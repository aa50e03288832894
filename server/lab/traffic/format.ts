import { z } from 'zod'

/**
 * File of recorded API traffic: NDJSON, first a head, then one line for each call, in the order of arrival. It contains
 * no token, digest, key or password.
 */

/** Kinds of values that a recording leaves out. The replay fills in its own. */
const secretKinds = ['token', 'digest', 'access_key', 'secret'] as const
export type SecretKind = (typeof secretKinds)[number]

const leftOut = z.strictObject({ left_out: z.enum(secretKinds) })
/** Stands for a value that was left out. */
export type LeftOut = z.output<typeof leftOut>

/** Whether a recorded value was left out. */
export function isLeftOut(value: unknown): value is LeftOut {
  return leftOut.safeParse(value).success
}

export const trafficHead = z.strictObject({
  format: z.literal('roomdesk-traffic'),
  version: z.literal(1),
  /** Start of the recording, in milliseconds since the epoch. */
  began_at: z.int(),
  /** Version of the product that recorded. */
  product: z.string(),
})

const trafficCall = z.strictObject({
  /** Time of arrival, in milliseconds since the start of the recording. */
  at: z.int().min(0),
  /** Time until the answer, in milliseconds. */
  took: z.int().min(0),
  /** Name of the operation. */
  operation: z.string().min(1),
  method: z.enum(['GET', 'POST']),
  /** Parameters that the operation declares; a value is a text, except in a JSON body. */
  params: z.record(z.string(), z.unknown()),
  /** Number of the caller's credential, by first appearance; 0: the caller is unknown. */
  caller: z.int().min(0),
  ret: z.int(),
  /** Fields of the answer, without `ret` and without messages. */
  answer: z.record(z.string(), z.unknown()),
})
export type TrafficCall = z.output<typeof trafficCall>

/** A file is not a recording. The message is a sentence that names the line. */
export class TrafficFileError extends Error {
  override readonly name = 'TrafficFileError'
}

/** Reads a file of recorded traffic. @throws TrafficFileError */
export function readTraffic(text: string): TrafficCall[] {
  const [first = '', ...lines] = text.split('\n').filter((line) => line.trim() !== '')
  readLine(trafficHead, first, 1)
  return lines.map((line, index) => readLine(trafficCall, line, index + 2))
}

function readLine<T>(schema: z.ZodType<T>, line: string, number: number): T {
  const read = schema.safeParse(jsonOf(line))
  if (read.success) return read.data
  const [issue] = read.error.issues
  const where = issue === undefined || issue.path.length === 0 ? '' : ` (${issue.path.join('.')})`
  throw new TrafficFileError(
    number === 1
      ? `Line 1 is not the head of recorded traffic${where}.`
      : `Line ${number} is not a recorded call${where}.`,
  )
}

function jsonOf(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
