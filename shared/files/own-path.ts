import { basename, dirname, join } from 'node:path'

declare const inside: unique symbol

/** A path inside a folder of ours. Only `insideOf` makes one, so code that reads, removes, serves or uploads it cannot be given a path that was received. */
export type OwnPath = string & { readonly [inside]: true }

/** A name or path leaves its folder, or is not a name that every system takes. */
export class PathError extends Error {
  override readonly name = 'PathError'
}

/** Longest name in bytes that all file systems take. */
const maxBytes = 255
/** Separators, drives and alternate streams, wildcards, control characters: refused everywhere, since folders are moved between systems. */
const refused = /[/\\:*?"<>|\u0000-\u001f\u007f]/
/** Names of devices on Windows, with any extension ("Naming Files, Paths, and Namespaces", Microsoft). */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(?:\.|$)/i

/** Whether a text is the name of one file or folder on every system: no separator, no `..`, no device, no name that Windows changes. */
export function isPathPart(text: string): boolean {
  return (
    text !== '' &&
    !refused.test(text) &&
    // Windows drops dots and spaces at the end; this includes `.` and `..`.
    !/[. ]$/.test(text) &&
    !device.test(text) &&
    Buffer.byteLength(text) <= maxBytes
  )
}

/**
 * Makes the path of a file in a folder of ours.
 * @param folder trusted, as from a flag
 * @param parts names, one for each level below it
 * @throws PathError a part is not the name of one file or folder
 */
export function insideOf(folder: string, ...parts: readonly string[]): OwnPath {
  if (folder === '') throw new PathError('A folder without a name holds no files.')
  const wrong = parts.find((part) => !isPathPart(part))
  if (wrong !== undefined || parts.length === 0)
    throw new PathError(`${JSON.stringify(wrong ?? '')} is not the name of a file.`)
  return join(folder, ...parts) as OwnPath
}

/** Makes the path of a file beside another one, whose name has this text at its end. @throws PathError */
export function withSuffix(path: OwnPath, suffix: string): OwnPath {
  return insideOf(dirname(path), basename(path) + suffix)
}

/**
 * Makes the path of a file some levels below a folder of ours.
 * @param path below it, with `/` or the separator of Windows
 * @throws PathError a part is not the name of one file or folder
 */
export function belowOf(folder: string, path: string): OwnPath {
  return insideOf(folder, ...path.split(/[/\\]/))
}
