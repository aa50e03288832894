/** Longest text of a request or an answer that is shown, in characters. */
const maxShown = 400

/** Secrets of a run, which no report contains. */
export class Secrets {
  readonly #texts = new Set<string>()

  /** Hides a text from now on. Short texts are kept: their removal would make a report unreadable. */
  add(...texts: readonly string[]): void {
    for (const text of texts) if (text.length >= 4) this.#texts.add(text)
  }

  /** Returns the first secret in a text; undefined: none. */
  foundIn(text: string): string | undefined {
    for (const secret of this.#texts) if (text.includes(secret)) return secret
    return undefined
  }

  /** Returns a text for people: without secrets and control characters, and shortened. */
  shown(text: string): string {
    let shown = text
    for (const secret of this.#texts)
      for (const form of new Set([secret, encodeURIComponent(secret)])) shown = shown.replaceAll(form, '‹secret›')
    const visible = shown.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
    return visible.length > maxShown ? `${visible.slice(0, maxShown)}… (${visible.length} characters)` : visible
  }
}
