import type { HttpReply } from './http-call.ts'
import type { ShownExchange } from './verdict.ts'

/** Answer to a call. */
export interface Answer {
  /** Result code; undefined: the answer cannot be read as the contract requires. */
  ret: number | undefined
  /** All fields; empty if the body is not a JSON object. */
  fields: Readonly<Record<string, unknown>>
  reply: HttpReply
  /** Body as text; bytes that are not UTF-8 are replaced. */
  text: string
  exchange: ShownExchange
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a body as a JSON object in UTF-8; undefined: it is something else. */
export function jsonObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(body))
    return isObject(value) ? value : undefined
  } catch {
    // Neither UTF-8 nor JSON.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Reads `ret`; digits as text are read, too, so that only the rule about its type is broken. */
export function readRet({ ret }: Readonly<Record<string, unknown>>): number | undefined {
  const number = typeof ret === 'string' && /^\d{1,4}$/.test(ret) ? Number(ret) : ret
  return typeof number === 'number' ? number : undefined
}
