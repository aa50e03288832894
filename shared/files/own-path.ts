import { basename, dirname, join } from 'node:path'

declare const inside: unique symbol

/**
 * Path inside a folder of this program. Only `insideOf` creates this type, so code that reads, removes, serves or
 * uploads files cannot be called with a received path.
 */
export type OwnPath = string & { readonly [inside]: true }

/** A name or path leaves its folder, or is not valid on every system. */
export class PathError extends Error {
  override readonly name = 'PathError'
}

/** Maximum length of a name on all file systems, in bytes. */
const maxBytes = 255
/**
 * Separators, drives and alternate streams, wildcards, control characters: rejected on all systems, because folders are
 * moved between systems.
 */
const refused = /[/\\:*?"<>|\u0000-\u001f\u007f]/
/** Names of devices on Windows, with any extension ("Naming Files, Paths, and Namespaces", Microsoft). */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(?:\.|$)/i

/**
 * Whether a text is a valid name of one file or folder on every system: no separator, no `..`, no device, no name that
 * Windows changes.
 */
export function isPathPart(text: string): boolean {
  return (
    text !== '' &&
    !refused.test(text) &&
    // Windows removes dots and spaces at the end; this includes `.` and `..`.
    !/[. ]$/.test(text) &&
    !device.test(text) &&
    Buffer.byteLength(text) <= maxBytes
  )
}

/**
 * Returns the path of a file in a folder of this program.
 * @param folder trusted, e.g. from a flag
 * @param parts names, one for each level below it
 * @throws PathError if a part is not the name of one file or folder
 */
export function insideOf(folder: string, ...parts: readonly string[]): OwnPath {
  if (folder === '') throw new PathError('A folder without a name holds no files.')
  const wrong = parts.find((part) => !isPathPart(part))
  if (wrong !== undefined || parts.length === 0)
    throw new PathError(`${JSON.stringify(wrong ?? '')} is not the name of a file.`)
  return join(folder, ...parts) as OwnPath
}

/** Returns the path of a file beside another one, whose name has this suffix. @throws PathError */
export function withSuffix(path: OwnPath, suffix: string): OwnPath {
  return insideOf(dirname(path), basename(path) + suffix)
}

/**
 * Returns the path of a file several levels below a folder of this program.
 * @param path below it, with `/` or the separator of Windows
 * @throws PathError if a part is not the name of one file or folder
 */
export function belowOf(folder: string, path: string): OwnPath {
  return insideOf(folder, ...path.split(/[/\\]/))
}
