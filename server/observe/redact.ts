/** What the request journal shows of parameters: names and harmless values, bounded; of a secret nothing but that it was there. */

/** Names whose value is a secret wherever they show up, also misspelt (field: access_tocken) or unknown ones. */
const secretName = /toc?ken|digest|secret|passw|pwd|^pass$|authorization|cookie/i
/** Most parameters of one request, longest name and longest value that are kept, in characters. */
const mostParams = 32
const longestName = 64
const longestValue = 256

const redacted = '[redacted]'

/** The parameters of a request as texts, redacted and bounded. */
export function redactParams(params: ReadonlyMap<string, unknown>): Record<string, string> {
  const shown: [string, string][] = []
  for (const [name, value] of params) {
    if (shown.length === mostParams) break
    shown.push([bounded(name, longestName), showValue(name, value)])
  }
  // fromEntries makes own properties, so that a parameter called __proto__ is one like any other.
  return Object.fromEntries(shown)
}

function showValue(name: string, value: unknown): string {
  if (secretName.test(name)) return redacted
  if (name === 'options' || name === 'userData' || typeof value !== 'string')
    return bounded(redactOptions(value), longestValue)
  return bounded(redactAddress(value), longestValue)
}

/** An address without its login: `rtsp://user:password@host`. */
export function redactAddress(text: string): string {
  // A password may hold @ and /, so everything up to the last @ goes.
  return text.replace(/([a-z][a-z0-9+.-]*:\/\/)[^\s]*@/gi, `$1${redacted}@`)
}

/** Options as JSON text with their secrets taken out; what cannot be read is not shown at all. */
function redactOptions(value: unknown): string {
  try {
    const parsed: unknown = typeof value === 'string' && /^\s*[[{]/.test(value) ? JSON.parse(value) : value
    if (typeof parsed === 'string') return redactAddress(parsed)
    const text = JSON.stringify(parsed, (key, field: unknown) =>
      secretName.test(key) ? redacted : typeof field === 'string' ? redactAddress(field) : field,
    )
    return text ?? ''
  } catch {
    // Half a document may hold a whole password.
    return redacted
  }
}

/** A text of at most so many characters. */
export function bounded(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
