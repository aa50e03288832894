import type { OperationContract } from '../../shared/operation.ts'

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
 * parser checks the result. Linear time; nothing is evaluated.
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

/** Parses the text of an object, in JSON or with single quotes; undefined: it is not an object. */
export function readObjectText(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(doubleQuoted(text))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    // The text is not JSON with either kind of quotes.
    return undefined
  }
}
