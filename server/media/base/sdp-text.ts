/** Maximum length of a line that is read, in characters. */
const maxLine = 4 * 1024

/**
 * Returns the lines of a session description (RFC 8866) that a reader uses, in order. A full parser would waste time on
 * unused lines.
 * @param used matches the start of a used line; sticky
 * @param max maximum number of lines; further lines and too long lines are skipped
 */
export function usedLines(text: string, used: RegExp, max: number): string {
  const lines: string[] = []
  for (let at = 0; at < text.length && lines.length < max; ) {
    const end = text.indexOf('\n', at)
    const next = end < 0 ? text.length : end
    used.lastIndex = at
    if (next - at <= maxLine && used.test(text)) lines.push(text.slice(at, next).trimEnd())
    at = next + 1
  }
  return lines.join('\r\n')
}

/** sdp-transform turns digits into numbers and keeps other values as text, regardless of its declared types. */
type SdpValue = string | number

export function textOf(value: SdpValue): string {
  return String(value)
}

/** Returns NaN if the value is not a number. */
export function numberOf(value: SdpValue): number {
  return Number(value)
}
