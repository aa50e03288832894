import { basename, dirname, join } from 'node:path'

declare const inside: unique symbol

/**
 * Path inside a folder of this program. Only `insideOf` creates values of this type, so code that reads, removes,
 * serves or uploads files cannot be called with an unchecked path.
 */
export type OwnPath = string & { readonly [inside]: true }

/** A name or path leads outside of its folder, or is not valid on every system. */
export class PathError extends Error {
  override readonly name = 'PathError'
}

/** Maximum length of a name in bytes, as on common file systems. */
const maxBytes = 255
/**
 * Separators, drives and alternate streams, wildcards, control characters. They are rejected on all systems, because
 * folders may be moved between systems.
 */
const refused = /[/\\:*?"<>|\u0000-\u001f\u007f]/
/** Names of devices on Windows, with any extension ("Naming Files, Paths, and Namespaces", Microsoft). */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(?:\.|$)/i

/**
 * Whether a text is a valid name of one file or folder on every system: without separators, not `..`, not a device
 * name, and not a name that Windows would change.
 */
export function isPathPart(text: string): boolean {
  return (
    text !== '' &&
    !refused.test(text) &&
    // Windows removes dots and spaces at the end of a name. This also excludes `.` and `..`.
    !/[. ]$/.test(text) &&
    !device.test(text) &&
    Buffer.byteLength(text) <= maxBytes
  )
}

/**
 * Returns the path of a file in a folder of this program.
 * @param folder trusted path, e.g. from a flag
 * @param parts names, one for each level below the folder
 * @throws PathError if a part is not the name of one file or folder
 */
export function insideOf(folder: string, ...parts: readonly string[]): OwnPath {
  if (folder === '') throw new PathError('A folder without a name holds no files.')
  const wrong = parts.find((part) => !isPathPart(part))
  if (wrong !== undefined || parts.length === 0)
    throw new PathError(`${JSON.stringify(wrong ?? '')} is not the name of a file.`)
  return join(folder, ...parts) as OwnPath
}

/** Returns the path of a file in the same folder, whose name has an additional suffix. @throws PathError */
export function withSuffix(path: OwnPath, suffix: string): OwnPath {
  return insideOf(dirname(path), basename(path) + suffix)
}

/**
 * Returns the path of a file several levels below a folder of this program.
 * @param path path below the folder, with `/` or `\` as separator
 * @throws PathError if a part is not the name of one file or folder
 */
export function belowOf(folder: string, path: string): OwnPath {
  return insideOf(folder, ...path.split(/[/\\]/))
}
