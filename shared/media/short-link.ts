/**
 * Short URL of a join link, e.g. `https://rooms.example.org/j/Kx7f-9QmT-b3Wz`. The media API redirects it to the room
 * page.
 */

/** Path prefix of short links on the media API. */
export const shortLinkPath = '/j/'
/** Letters and digits that readers do not confuse: without 0, O, 1, l and I. */
export const codeAlphabet = '23456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ'
/** Length of a code in characters, without hyphens; equals 70 bits. */
export const codeLength = 12
const groupLength = 4
const codeForm = new RegExp(`^[${codeAlphabet}]{${codeLength}}$`)

/** Formats a code in groups for reading. */
export function groupedCode(code: string): string {
  return code.match(new RegExp(`.{1,${groupLength}}`, 'g'))?.join('-') ?? ''
}

/** Returns the code in the path of a short link, which may contain hyphens; undefined: the path is not a short link. */
export function codeOfPath(path: string): string | undefined {
  const at = path.lastIndexOf(shortLinkPath)
  if (at === -1) return undefined
  const code = path.slice(at + shortLinkPath.length).replaceAll('-', '')
  return codeForm.test(code) ? code : undefined
}
