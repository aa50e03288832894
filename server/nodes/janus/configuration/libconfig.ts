/** Value of a setting in a libconfig file. Arrays contain strings. */
export type LibconfigValue = string | number | boolean | readonly string[]

/** A line of a group: a setting, or a comment of one line. */
export type LibconfigLine = { comment: string } | { name: string; value: LibconfigValue }

/** A group of settings. Janus uses no nested groups. */
export interface LibconfigGroup {
  name: string
  lines: readonly LibconfigLine[]
}

/**
 * Returns the text of a libconfig file (libconfig manual, chapter 2) with comments before its groups. Names must be
 * valid; values may contain any character.
 * @throws RangeError for a number that is no integer, and for a string with a NUL, which libconfig does not support
 */
export function libconfigText(comments: readonly string[], groups: readonly LibconfigGroup[]): string {
  const head = comments.map((comment) => `${commentLine(comment)}\n`).join('')
  const bodies = groups.map(
    ({ name, lines }) => `${name}: {\n${lines.map((line) => `\t${lineText(line)}\n`).join('')}}\n`,
  )
  return [head, ...bodies].filter((part) => part !== '').join('\n')
}

function lineText(line: LibconfigLine): string {
  return 'comment' in line ? commentLine(line.comment) : `${line.name} = ${valueText(line.value)}`
}

/** Replaces line breaks: a line break within a comment must not begin a setting. */
function commentLine(text: string): string {
  return `# ${text.replace(/\s+/g, ' ').trim()}`
}

function valueText(value: LibconfigValue): string {
  if (typeof value === 'string') return stringText(value)
  if (typeof value === 'number' && !Number.isInteger(value))
    throw new RangeError('A number of a libconfig file must be an integer.')
  return typeof value === 'object' ? `[${value.map(stringText).join(', ')}]` : String(value)
}

function stringText(value: string): string {
  if (value.includes('\0')) throw new RangeError('A string of a libconfig file cannot hold a NUL.')
  const escaped = value.replace(/["\\]/g, '\\$&').replace(/\p{Cc}/gu, (control) => {
    const code = control.charCodeAt(0)
    // Characters above 0x7f are two bytes in UTF-8, and need no escape.
    return code > 0x7f ? control : `\\x${code.toString(16).padStart(2, '0')}`
  })
  return `"${escaped}"`
}
