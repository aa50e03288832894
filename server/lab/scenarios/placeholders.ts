/** `${name}` stands for a value that was drawn, or kept from an earlier answer. */
const placeholder = /\$\{([a-z][a-z0-9_]*)\}/g

/** A placeholder has no value. */
export class MissingValueError extends Error {
  override readonly name = 'MissingValueError'
  readonly missing: string

  constructor(missing: string) {
    super(`\${${missing}} has no value`)
    this.missing = missing
  }
}

/** Returns the names of the placeholders in a value. */
export function placeholdersOf(value: unknown): string[] {
  if (typeof value === 'string') return Array.from(value.matchAll(placeholder), ([, name = '']) => name)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(placeholdersOf)
}

/**
 * Replaces the placeholders in a value. A text that is one placeholder becomes the value itself, such as a number.
 * @param valueOf returns the value of a name; undefined: none
 * @throws MissingValueError
 */
export function filledIn(value: unknown, valueOf: (name: string) => unknown): unknown {
  const required = (name: string): unknown => {
    const found = valueOf(name)
    if (found === undefined) throw new MissingValueError(name)
    return found
  }
  if (typeof value === 'string') {
    const [match] = value.matchAll(placeholder)
    if (match?.[1] !== undefined && match[0] === value) return required(match[1])
    return value.replace(placeholder, (_text, name: string) => String(required(name)))
  }
  if (Array.isArray(value)) return value.map((each) => filledIn(each, valueOf))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, filledIn(each, valueOf)]))
}

/** Returns the part of an answer at a path such as `items.0.url`; undefined: missing. */
export function valueAt(answer: unknown, path: string): unknown {
  let value = answer
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}
