import type { OperationContract } from '../../shared/operation.ts'

/**
 * The token of a request under any of its operation's names, the specification's own first, or in the document that may hold it. Empty when there is none. A space in it stands for an
 * unescaped `+`.
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

/** A document that was escaped by itself and again with its query, as clients do that say `uri_encode=yes` and let a library make the query. */
function unescaped(text: string): string {
  if (!/^%7b/i.test(text)) return text
  try {
    return decodeURIComponent(text)
  } catch {
    // A broken escape: no document.
    return ''
  }
}

/**
 * Returns the text of an object with its single quotes replaced by double ones. JSON is returned unchanged; the parser checks the result. Linear; nothing is evaluated.
 */
export function doubleQuoted(text: string): string {
  if (!text.includes("'")) return text
  let result = ''
  /** The quote that ends the string that is being read; empty between strings. */
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

/** The object that a text is, in JSON or with single quotes; undefined when it is none. */
export function readObjectText(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(doubleQuoted(text))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    // No JSON, however its strings are quoted: there is nothing to read.
    return undefined
  }
}
