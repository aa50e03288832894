import type { z } from 'zod'
import type { TrafficState } from '../../../shared/console/lab.ts'
import { type DeviceAddress, parseDeviceAddress } from '../../../shared/device-address.ts'
import type { AnyAnswerDisclosure, Disclosure } from '../../../shared/disclosure.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { operationsByName } from '../../../shared/operations.ts'
import type { Observation, RequestObserver } from '../../observe/observation.ts'
import { certainHost, plainPath } from '../../observe/redaction/address.ts'
import type { LeftOut, SecretKind, TrafficCall, trafficHead } from './format.ts'

/** Maximum length of a recording, in characters. It is kept in memory. */
const maxLength = 32 * 1024 * 1024

/** A recording in memory. */
interface Recording {
  readonly beganAt: number
  /** Start, in milliseconds of the monotonic clock. */
  readonly began: number
  endsAt: number
  full: boolean
  readonly lines: string[]
  length: number
  skipped: number
  /** Numbers of the callers, by access_key. */
  readonly callers: Map<string, number>
}

/**
 * Records requests of clients and the answers, without secrets, from `begin` until `end`. The last recording is kept in
 * memory until the next one.
 */
export class TrafficRecorder implements RequestObserver {
  readonly #product: string
  #recording: Recording | undefined
  #ending: NodeJS.Timeout | undefined

  /** @param product version of the product, for the file */
  constructor(product: string) {
    this.#product = product
  }

  /** Starts a new recording, which replaces the last one. @param durationMs until it ends by itself */
  begin(durationMs: number): void {
    const now = Date.now()
    this.#recording = {
      beganAt: now,
      began: performance.now(),
      endsAt: now + durationMs,
      full: false,
      lines: [],
      length: 0,
      skipped: 0,
      callers: new Map(),
    }
    clearTimeout(this.#ending)
    this.#ending = setTimeout(() => this.end(), durationMs).unref()
  }

  /** Ends the running recording, if there is one. */
  end(): void {
    clearTimeout(this.#ending)
    this.#ending = undefined
    if (this.#recording !== undefined) this.#recording.endsAt = Math.min(this.#recording.endsAt, Date.now())
  }

  get state(): TrafficState {
    const recording = this.#recording
    return {
      began_at: recording?.beganAt ?? 0,
      ends_at: recording?.endsAt ?? 0,
      running: this.#running,
      calls: recording?.lines.length ?? 0,
      skipped: recording?.skipped ?? 0,
      full: recording?.full ?? false,
    }
  }

  /** Returns the recording as NDJSON; empty: there is none. */
  get text(): string {
    const recording = this.#recording
    if (recording === undefined) return ''
    const head: z.output<typeof trafficHead> = {
      format: 'roomdesk-traffic',
      version: 1,
      began_at: recording.beganAt,
      product: this.#product,
    }
    return [JSON.stringify(head), ...recording.lines, ''].join('\n')
  }

  observe(observation: Observation): void {
    const recording = this.#recording
    if (recording === undefined || !this.#running) return
    const operation = operationsByName.get(observation.operation)
    const { method } = observation
    if (operation === undefined || (method !== 'GET' && method !== 'POST')) {
      recording.skipped += 1
      return
    }
    const call: TrafficCall = {
      at: Math.max(0, Math.round(performance.now() - observation.duration - recording.began)),
      took: Math.round(observation.duration),
      operation: observation.operation,
      method,
      params: recordedParameters(operation, observation.params),
      caller: numberOf(recording, observation.credential),
      ret: observation.ret,
      answer: observation.ret === 0 ? recordedAnswer(operation, observation.text ?? '{}') : {},
    }
    const line = JSON.stringify(call)
    if (recording.length + line.length > maxLength) {
      recording.full = true
      return this.end()
    }
    recording.lines.push(line)
    recording.length += line.length
  }

  get #running(): boolean {
    return this.#ending !== undefined
  }
}

function numberOf({ callers }: Recording, accessKey: string): number {
  if (accessKey === '') return 0
  const known = callers.get(accessKey) ?? callers.size + 1
  callers.set(accessKey, known)
  return known
}

/**
 * Returns the parameters of a call for a recording. Parameters that the operation does not declare are left out: a
 * caller may have entered a password in any of them.
 */
function recordedParameters(
  { token, tokenDocument, disclosure }: OperationContract,
  params: ReadonlyMap<string, unknown>,
): Record<string, unknown> {
  const recorded: [string, unknown][] = []
  for (const [name, value] of params) {
    if (token?.includes(name)) recorded.push([name, leftOut('token')])
    else if (Object.hasOwn(disclosure, name) && name !== tokenDocument)
      recorded.push([name, recordedValue(name, disclosure[name] ?? 'secret', value)])
  }
  return Object.fromEntries(recorded)
}

/** Fields of an answer whose text may quote the request. */
const messages: ReadonlySet<string> = new Set(['msg', 'err'])

/** Returns the fields of an answer for a recording, without `ret` and messages. @param text JSON text of the answer */
function recordedAnswer({ answer }: OperationContract, text: string): Record<string, unknown> {
  const parsed: unknown = JSON.parse(text)
  if (typeof parsed !== 'object' || parsed === null) return {}
  const fields = Object.entries(parsed).filter(([name]) => Object.hasOwn(answer, name) && !messages.has(name))
  return Object.fromEntries(fields.map(([name, value]) => [name, answerPart(answer[name] ?? 'secret', value)]))
}

function leftOut(kind: SecretKind): LeftOut {
  return { left_out: kind }
}

function recordedValue(name: string, disclosure: Disclosure, value: unknown): unknown {
  if (disclosure === 'secret') return leftOut(name === 'digest' ? 'digest' : 'secret')
  if (disclosure === 'credential') return leftOut('access_key')
  if (disclosure === 'address') return typeof value === 'string' ? withoutLogin(value) : leftOut('secret')
  if (typeof disclosure === 'object' && 'fields' in disclosure) return recordedDocument(disclosure.fields, value)
  return value
}

/** Records the known fields of an object, or of its JSON text, that contain no secret. */
function recordedDocument(fields: Readonly<Record<string, Disclosure>>, value: unknown): unknown {
  const parsed = typeof value === 'string' ? jsonOf(value) : value
  if (typeof parsed !== 'object' || parsed === null) return leftOut('secret')
  const kept = Object.entries(parsed).flatMap(([name, field]: [string, unknown]) => {
    const disclosure = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (disclosure === undefined || disclosure === 'secret') return []
    return [[name, recordedValue(name, disclosure, field)]]
  })
  const document: unknown = Object.fromEntries(kept)
  return typeof value === 'string' ? JSON.stringify(document) : document
}

/** Returns a camera's address without login and query. A text whose host is not certain is left out. */
function withoutLogin(text: string): string | LeftOut {
  let parsed: DeviceAddress
  try {
    parsed = parseDeviceAddress(text)
  } catch {
    return leftOut('secret')
  }
  const host = certainHost(parsed, text)
  if (host === undefined) return leftOut('secret')
  const [path = ''] = parsed.canonical.slice(parsed.origin.length).split(/[?#]/)
  return `${parsed.secure ? 'rtsps' : 'rtsp'}://${host}${plainPath(path)}`
}

function answerPart(disclosure: AnyAnswerDisclosure, value: unknown): unknown {
  if (disclosure === 'secret') return leftOut('secret')
  if (disclosure === 'address') return typeof value === 'string' ? withoutLogin(value) : leftOut('secret')
  if (Array.isArray(value)) return value.map((item) => answerPart(disclosure, item))
  if (typeof value !== 'object' || value === null) return value
  if (!hasFields(disclosure)) return leftOut('secret')
  const fields = Object.entries(value).map(([name, inner]: [string, unknown]) => [
    name,
    answerPart(Object.hasOwn(disclosure, name) ? (disclosure[name] ?? 'secret') : 'secret', inner),
  ])
  return Object.fromEntries(fields)
}

function hasFields(disclosure: AnyAnswerDisclosure): disclosure is Readonly<Record<string, AnyAnswerDisclosure>> {
  return typeof disclosure === 'object' && !Array.isArray(disclosure) && !('fields' in disclosure)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
