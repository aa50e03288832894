import { parseDeviceAddress } from '../../../../shared/device-address.ts'
import { hiddenSecret } from '../../../../shared/hidden-secret.ts'
import type { Disclosure } from '../../../../shared/disclosure.ts'
import { allOperations } from '../../../../shared/operations.ts'

/** A request as entered, and as sent on the wire: its URL, and request line, headers and body. */
interface SentRequest {
  input: { operation: string; params: Readonly<Record<string, string>> }
  answer: { url: string; request: string } | null
}

/** Lists the secrets of a request by the operation's contract: its token or digest, passwords, logins. */
export function secretsOf({ input, answer }: SentRequest): string[] {
  const contract = allOperations.find(({ name }) => name === input.operation)
  const wire = answer === null ? [] : [...new URL(answer.url).searchParams, ...fieldsOf(bodyOf(answer.request))]
  return [...Object.entries(input.params), ...wire]
    .flatMap(([name, value]) =>
      secretsIn(contract?.token?.includes(name) ? 'secret' : contract?.disclosure[name], value),
    )
    .filter((secret) => secret !== '')
}

/** Fields of answers that contain a secret: an access token, a room's password, a TURN server's credential. */
const secretFields = new Set(['accessToken', 'host_password', 'credential'])

/** Removes secrets from the body of an answer; unchanged if it has none. */
export function answerWithoutSecrets(body: string): string {
  let holdsSecrets = false
  try {
    const kept: unknown = JSON.parse(body, (name, value: unknown) => {
      if (!secretFields.has(name) || typeof value !== 'string' || value === '') return value
      holdsSecrets = true
      return hiddenSecret
    })
    return holdsSecrets ? JSON.stringify(kept) : body
  } catch {
    // The answer is not JSON, so another server sent it.
    return body
  }
}

/** Removes secrets from a text, in each encoding of a URL or of JSON. */
export function hideSecrets(text: string, secrets: readonly string[]): string {
  const spellings = secrets.flatMap((secret) => {
    const inJson = JSON.stringify(secret).slice(1, -1)
    const inUrl = [secret, inJson].flatMap((text) => [
      encodeURIComponent(text),
      new URLSearchParams({ s: text }).toString().slice(2),
    ])
    // Includes JSON within JSON, because options may be a text in a JSON body.
    return [
      secret,
      inJson,
      JSON.stringify(inJson).slice(1, -1),
      ...inUrl,
      ...inUrl.map((text) => text.replaceAll('+', '%20')),
    ]
  })
  // Longest first, because a secret may be part of another.
  return [...new Set(spellings)]
    .sort((a, b) => b.length - a.length)
    .reduce((shown, spelling) => shown.replaceAll(spelling, hiddenSecret), text)
}

function secretsIn(disclosure: Disclosure | undefined, value: unknown): string[] {
  if (disclosure === 'address') return typeof value === 'string' ? loginOf(value) : []
  if (disclosure === 'secret') return [String(value)]
  if (typeof disclosure !== 'object' || !('fields' in disclosure)) return []
  const fields = typeof value === 'string' ? fieldsOf(value) : Object.entries(value ?? {})
  return fields.flatMap(([name, field]) => secretsIn(disclosure.fields[name], field))
}

function bodyOf(request: string): string {
  const end = request.indexOf('\n\n')
  return end < 0 ? '' : request.slice(end + 2)
}

/** Returns user name and password of an address; the whole address if it cannot be parsed. */
function loginOf(text: string): string[] {
  try {
    const { login } = parseDeviceAddress(text)
    return login === undefined ? [] : [text.slice(text.indexOf('://') + 3, text.lastIndexOf('@')), login.password]
  } catch {
    return text.includes('@') ? [text] : []
  }
}

/** Lists the fields of a JSON object or of a form; empty for other texts. */
function fieldsOf(text: string): [string, unknown][] {
  if (!text.startsWith('{')) return [...new URLSearchParams(text)]
  try {
    return Object.entries(JSON.parse(text) as object)
  } catch {
    return []
  }
}
