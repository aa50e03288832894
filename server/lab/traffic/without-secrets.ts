import { type DeviceAddress, parseDeviceAddress } from '../../../shared/device-address.ts'
import type { AnyAnswerDisclosure, Disclosure } from '../../../shared/disclosure.ts'
import type { OperationContract } from '../../../shared/operation.ts'
import { certainHost, plainPath } from '../../observe/redaction/address.ts'
import type { LeftOut, SecretKind } from './format.ts'

/**
 * Returns the parameters of a call for a recording. Parameters that the operation does not declare are left out: a
 * caller may have entered a password in any of them.
 */
export function recordedParameters(
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
export function recordedAnswer({ answer }: OperationContract, text: string): Record<string, unknown> {
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
