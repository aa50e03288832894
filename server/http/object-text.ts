/**
 * The text of an object as JSON wants it: what stands in single quotes is put in double ones. JSON stays as it is. Whether the result is JSON is for the parser to say. Linear; nothing is
 * evaluated.
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
      // JSON knows no escaped single quote.
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
