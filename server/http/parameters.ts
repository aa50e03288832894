/** Strict parser of query strings and urlencoded bodies (contract, section 1). */

import { hasControlCharacter } from '../../shared/control-character.ts'
import type { OperationContract } from '../../shared/operation.ts'

/**
 * Parameters by name, as sent by the caller: texts, or values of a JSON body. A Map, so that `__proto__` is an ordinary
 * name.
 */
export type Parameters = Map<string, unknown>

/** Parameters with their first problem. Parsing continues after a problem, so that a JSONP callback is still found. */
export interface ReadParameters {
  parameters: Parameters
  /** Sentence about the problem that names the parameter; undefined: no problem. */
  problem: string | undefined
}

/** Characters of a segment that must be decoded or rejected. A segment without such characters is its own value. */
const needsDecoding = /[^\x21-\x24\x26-\x2a\x2c-\x7e]/
/** Browser clients send a callback, and jQuery appends a second callback, which counts (contract, section 1). */
export const callbackName = 'callback'
const speakableName = /^[\w.$-]{1,40}$/

/** Returns the name of a parameter for a message; `A parameter` if the name is long or has special characters. */
export function speakName(name: string): string {
  return speakableName.test(name) ? name : 'A parameter'
}

/**
 * Reads `name=value&name=value` into `into`. `text` has one character per byte (latin1), like Node's request targets,
 * so raw UTF-8 bytes are accepted in addition to percent-escapes. `+` is a space. If there are several callbacks, the
 * last callback counts; any other name may occur only once. Never throws.
 */
export function readParameters(text: string, into: Parameters = new Map()): ReadParameters {
  let problem: string | undefined
  const plain = !needsDecoding.test(text)
  let from = 0
  while (from < text.length) {
    let end = text.indexOf('&', from)
    if (end === -1) end = text.length
    if (end > from) {
      const equals = text.indexOf('=', from)
      const nameEnd = equals === -1 || equals > end ? end : equals
      const rawName = text.slice(from, nameEnd)
      const rawValue = nameEnd === end ? '' : text.slice(nameEnd + 1, end)
      const name = plain ? rawName : decode(rawName)
      const value = plain ? rawValue : decode(rawValue)
      if (name === undefined || hasControlCharacter(name)) {
        problem ??= 'A parameter name is malformed.'
      } else if (value === undefined) {
        problem ??= `${speakName(name)} is malformed: percent-encode it as UTF-8.`
      } else if (!plain && hasControlCharacter(value)) {
        problem ??= `${speakName(name)} holds a control character.`
      } else if (into.has(name) && name !== callbackName) {
        problem ??= `${speakName(name)} is given more than once.`
      } else {
        into.set(name, value)
      }
    }
    from = end + 1
  }
  return { parameters: into, problem }
}

/**
 * Decodes a segment; undefined: an escape is invalid, or the bytes are not UTF-8 (an encoded lone surrogate is not).
 */
function decode(segment: string): string | undefined {
  if (!needsDecoding.test(segment)) return segment
  const spaced = segment.includes('+') ? segment.replaceAll('+', ' ') : segment
  const escaped = spaced.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16)}`)
  try {
    return decodeURIComponent(escaped)
  } catch {
    // decodeURIComponent throws only URIError.
    return undefined
  }
}

/**
 * Returns the token of a request, under any of its operation's names (the name in the specification first), or from a
 * document; empty: none. A space in the token stands for an unescaped `+`.
 */
export function tokenOf(
  { token, tokenDocument }: Pick<OperationContract, 'token' | 'tokenDocument'>,
  parameters: ReadonlyMap<string, unknown>,
): string {
  const names = token ?? []
  for (const name of names) {
    const value = parameters.get(name)
    if (typeof value === 'string' && value !== '') return value
  }
  const text = tokenDocument === undefined ? undefined : parameters.get(tokenDocument)
  const document = typeof text === 'string' && text !== '' ? readObjectText(unescaped(text)) : undefined
  if (document === undefined) return ''
  for (const name of names) {
    const value = Object.hasOwn(document, name) ? document[name] : undefined
    if (typeof value === 'string' && value !== '') return value
  }
  return ''
}

/**
 * Unescapes a document that was escaped twice: by a client that sends `uri_encode=yes`, and again by the library that
 * makes the query.
 */
function unescaped(text: string): string {
  if (!/^%7b/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // An invalid escape: the text is not a document.
    return ''
  }
}

/**
 * Returns the text of an object with its single quotes replaced by double quotes. JSON is returned unchanged; the
 * parser checks the result. Takes linear time, and evaluates no code.
 */
export function doubleQuoted(text: string): string {
  if (!text.includes("'")) return text
  let result = ''
  /** Quote that ends the current string; empty between strings. */
  let quote = ''
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i)
    if (quote === '') {
      if (character === '"' || character === "'") quote = character
      result += character === "'" ? '"' : character
    } else if (character === quote) {
      quote = ''
      result += '"'
    } else if (character === '\\') {
      const escaped = text.charAt(++i)
      // JSON has no escape for a single quote.
      result += escaped === "'" ? "'" : `\\${escaped}`
    } else result += character === '"' ? '\\"' : character
  }
  return result
}

/** Parses the text of an object, in JSON or with single quotes; undefined: the text is not an object. */
export function readObjectText(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(doubleQuoted(text))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    // The text is not JSON with either kind of quotes.
    return undefined
  }
}
