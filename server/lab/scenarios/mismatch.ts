/** Maximum length of a value in a sentence. */
const maxShown = 120

/** Returns a value as short JSON. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text
}

/** First difference between an expected part and a value. */
interface Mismatch {
  /** Path such as `items.0.state`; empty: the whole value. */
  path: string
  expected: string
  came: string
}

/**
 * Returns the first difference between an expected part and a value; undefined: the value contains the part. Of an
 * object, the expected fields must match. Of a list, each expected element must match another element; an empty list
 * matches only an empty one.
 */
export function mismatch(part: unknown, value: unknown, path = ''): Mismatch | undefined {
  const found = { path, expected: shown(part), came: shown(value) }
  if (Array.isArray(part)) {
    if (!Array.isArray(value) || (part.length === 0 && value.length > 0)) return found
    return holdsEach(part, value) ? undefined : found
  }
  if (typeof part !== 'object' || part === null) return Object.is(part, value) ? undefined : found
  if (typeof value !== 'object' || value === null) return found
  for (const [key, each] of Object.entries(part)) {
    const inside = Object.hasOwn(value, key) ? (value as Readonly<Record<string, unknown>>)[key] : undefined
    const first = mismatch(each, inside, path === '' ? key : `${path}.${key}`)
    if (first !== undefined) return first
  }
  return undefined
}

function holdsEach(parts: readonly unknown[], values: readonly unknown[]): boolean {
  const left = [...values]
  return parts.every((part) => {
    const index = left.findIndex((value) => mismatch(part, value) === undefined)
    if (index >= 0) left.splice(index, 1)
    return index >= 0
  })
}
