import type { IncomingMessage } from 'node:http'
import { hasControlCharacter } from '../../shared/control-character.ts'
import { type Parameters, readParameters, speakName } from './parameters.ts'

/** Request bodies of the device API (contract, section 4), bounded and strict. */

/** Maximum nesting depth of a JSON body: `options` is a flat object, so deeper nesting is an error. */
const deepest = 16

/**
 * Whether a request announces a body. Reads the raw headers, so that no header object is created for a request without
 * a body.
 */
export function announcesBody(rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length === 14) {
      if (name.toLowerCase() === 'content-length') return rawHeaders[i + 1] !== '0'
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') return true
  }
  return false
}

/**
 * Reads the whole body; returns 'tooLarge' as soon as it is longer than `limit` bytes. Rejects when the client
 * disconnects.
 */
export function readRequestBody(request: IncomingMessage, limit: number): Promise<Buffer | 'tooLarge'> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.resolve('tooLarge')
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    request.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) {
        chunks.length = 0
        resolve('tooLarge')
      } else chunks.push(chunk)
    })
    request.on('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)))
    request.on('error', () => reject(new ClientGone()))
    request.on('close', () => reject(new ClientGone()))
  })
}

/** Thrown if the client disconnects before its request is complete: an answer cannot be sent. */
export class ClientGone extends Error {
  constructor() {
    super('the client closed the connection before its request was whole')
    this.name = 'ClientGone'
  }
}

/**
 * Reads the parameters of a body into `into`, which already contains the parameters of the query. Returns the first
 * problem as one sentence, or undefined.
 */
export function readBodyParameters(request: IncomingMessage, body: Buffer, into: Parameters): string | undefined {
  if (body.length === 0) return undefined
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return 'Content-Encoding is not supported: send the body as it is.'
  }
  const [kind = '', ...attributes] = (request.headers['content-type'] ?? '').toLowerCase().split(';')
  for (const attribute of attributes) {
    const [name, value = ''] = attribute.split('=')
    if (name?.trim() === 'charset' && !/^\s*"?utf-?8"?\s*$/.test(value)) return 'The charset of the body must be UTF-8.'
  }
  switch (kind.trim()) {
    case 'application/x-www-form-urlencoded':
      return readParameters(body.toString('latin1'), into).problem
    case 'application/json':
      return readJson(body, into)
    default:
      return 'Content-Type must be application/x-www-form-urlencoded or application/json.'
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function readJson(body: Buffer, into: Parameters): string | undefined {
  let text: string
  let value: unknown
  try {
    text = utf8.decode(body)
    value = JSON.parse(text)
  } catch {
    // The messages of the decoder and the parser do not help the caller, and the parser quotes the body.
    return 'The body is not valid JSON in UTF-8.'
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'The body must be a JSON object.'
  const entries = Object.entries(value)
  if (topLevelKeys(text) !== entries.length) return 'A parameter of the JSON body is given more than once.'
  for (const [name, field] of entries) {
    if (!wellFormed(name, 0)) return 'A parameter name is malformed.'
    if (into.has(name)) return `${speakName(name)} is given more than once.`
    if (!wellFormed(field, 1)) return `${speakName(name)} is malformed or holds a control character.`
    into.set(name, typeof field === 'number' ? digitsOf(field) : field)
  }
  return undefined
}

/**
 * Converts a number to its digits. Every parameter is text, but many clients send the id of a room or a user as a
 * number (contract, section 1). A number that JavaScript cannot represent exactly stays a number, which the schema
 * rejects: its digits may denote another room.
 */
function digitsOf(value: number): string | number {
  return Number.isSafeInteger(value) && value >= 0 ? String(value) : value
}

/** Whether a value contains no control character, no lone surrogate and no excessive nesting. */
function wellFormed(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !hasControlCharacter(value)
  if (typeof value !== 'object' || value === null) return true
  if (depth >= deepest) return false
  return Object.entries(value).every(([name, field]) => wellFormed(name, depth) && wellFormed(field, depth + 1))
}

/**
 * Counts the keys of the outermost object in a text that JSON.parse accepted. If a key occurs twice, JSON.parse
 * silently keeps its last value.
 */
function topLevelKeys(text: string): number {
  let depth = 0
  let keys = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charAt(i)) {
      case '"':
        for (i++; text[i] !== '"'; i++) if (text[i] === '\\') i++
        break
      case '{':
      case '[':
        depth++
        break
      case '}':
      case ']':
        depth--
        break
      case ':':
        if (depth === 1) keys++
        break
    }
  }
  return keys
}
