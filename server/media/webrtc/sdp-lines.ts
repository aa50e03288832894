/** Longest line of a session description that is read, in characters. */
const maxLine = 4 * 1024

/**
 * The lines of a session description (RFC 8866) that a reader uses, in their order: a parser of everything takes its time over lines that nobody needs.
 * @param used matches the beginning of a line that is used; sticky
 * @param most lines; what comes behind is left out, and so is a line that is too long
 */
export function usedLines(text: string, used: RegExp, most: number): string {
  const lines: string[] = []
  for (let at = 0; at < text.length && lines.length < most; ) {
    const end = text.indexOf('\n', at)
    const next = end < 0 ? text.length : end
    used.lastIndex = at
    if (next - at <= maxLine && used.test(text)) lines.push(text.slice(at, next).trimEnd())
    at = next + 1
  }
  return lines.join('\r\n')
}
