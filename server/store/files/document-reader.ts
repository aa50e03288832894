import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { RawRecord } from '../state.ts'
import { readingOf } from './store-file-error.ts'

/** First line of a file. */
export interface DocumentHeader {
  version: number
  first_segment: number
  written_at: number
  room_number: number
}

/** Thrown when the content of a file is damaged. */
export class DamagedFileError extends Error {
  override readonly name = 'DamagedFileError'
}

const chunkBytes = 256 * 1024
const maxLine = 64 * 1024 * 1024

/** Formats a CRC-32 as in the files: 8 hex digits. */
export function checksum(value: number): string {
  return value.toString(16).padStart(8, '0')
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

/** Parses a header from the first line of a file (`{...,`). */
function parseHeader(line: string): DocumentHeader | undefined {
  if (!line.startsWith('{') || !line.endsWith(',')) return undefined
  let value: unknown
  try {
    value = JSON.parse(`${line.slice(0, -1)}}`)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  if (!('version' in value) || !isCount(value.version) || value.version < 1) return undefined
  if (!('first_segment' in value) || !isCount(value.first_segment)) return undefined
  const written = 'written_at' in value && typeof value.written_at === 'number' ? value.written_at : 0
  const room = 'room_number' in value && isCount(value.room_number) ? value.room_number : 0
  return { version: value.version, first_segment: value.first_segment, written_at: written, room_number: room }
}

/**
 * Reads a file record by record: lines of `["key",{...}],` below `"collection":[`, and a checksum at the end (see
 * document-adapter.ts).
 * @param onRecord called for each record, before the checksum is verified: discard the records if this throws
 * @param salvage true: reads as much as possible and ignores damage
 * @throws DamagedFileError, StoreFileError, or errors of the file system (ENOENT, ...)
 */
export async function readDocument(
  path: string,
  onRecord: (record: RawRecord, version: number) => void,
  salvage = false,
): Promise<DocumentHeader> {
  const parser = new DocumentParser(onRecord, salvage)
  const handle = await readingOf(path, () => open(path, 'r'))
  try {
    let buffer = Buffer.allocUnsafeSlow(chunkBytes * 2)
    let filled = 0
    for (;;) {
      const { bytesRead } = await readingOf(path, () => handle.read(buffer, filled, buffer.length - filled, null))
      if (bytesRead === 0) break
      filled += bytesRead
      const end = buffer.lastIndexOf(0x0a, filled - 1) + 1
      if (end > 0) {
        parser.take(buffer.subarray(0, end))
        buffer.copyWithin(0, end, filled)
        filled -= end
      } else if (filled === buffer.length) {
        if (buffer.length >= maxLine) throw new DamagedFileError('a line is too long')
        const larger = Buffer.allocUnsafeSlow(buffer.length * 2)
        buffer.copy(larger)
        buffer = larger
      }
    }
    if (filled > 0) parser.take(buffer.subarray(0, filled))
    return parser.finish()
  } finally {
    await handle.close()
  }
}

class DocumentParser {
  readonly #onRecord: (record: RawRecord, version: number) => void
  readonly #salvage: boolean
  #header: DocumentHeader | undefined
  #collection: string | undefined
  #crc = 0
  #ended = false

  constructor(onRecord: (record: RawRecord, version: number) => void, salvage: boolean) {
    this.#onRecord = onRecord
    this.#salvage = salvage
  }

  /** @param bytes complete lines */
  take(bytes: Buffer): void {
    let position = 0
    while (position < bytes.length) {
      const newline = bytes.indexOf(0x0a, position)
      const end = newline === -1 ? bytes.length : newline
      const line = bytes.toString('utf8', position, end)
      try {
        // The checksum is computed from all bytes before its own line.
        if (line.startsWith('"checksum":')) this.#end(line, crc32(bytes.subarray(0, position), this.#crc))
        else this.#line(line)
      } catch (error) {
        if (!this.#salvage) throw error
      }
      position = end === bytes.length ? end : end + 1
    }
    this.#crc = crc32(bytes, this.#crc)
  }

  finish(): DocumentHeader {
    if (this.#header === undefined) throw new DamagedFileError('its first line is damaged')
    if (!this.#ended && !this.#salvage) throw new DamagedFileError('its end is missing')
    return this.#header
  }

  #line(line: string): void {
    if (this.#header === undefined) {
      this.#header = parseHeader(line)
      if (this.#header === undefined) throw new DamagedFileError('its first line is damaged')
      return
    }
    if (this.#ended) throw new DamagedFileError('something follows its end')
    if (line.startsWith('[')) this.#record(this.#header, line)
    else if (line === '],') this.#collection = undefined
    else {
      const name = /^"([a-z_]+)":\[$/.exec(line)?.[1]
      if (name === undefined) throw new DamagedFileError('a line is damaged')
      this.#collection = name
    }
  }

  #end(line: string, crc: number): void {
    if (this.#ended || line !== `"checksum":"${checksum(crc)}"}`) throw new DamagedFileError('its checksum is wrong')
    this.#ended = true
  }

  #record(header: DocumentHeader, line: string): void {
    const pair = parse(line.endsWith(',') ? line.slice(0, -1) : line)
    if (this.#collection === undefined || !Array.isArray(pair)) throw new DamagedFileError('a record is damaged')
    const [key, value] = pair as unknown[]
    if (typeof key !== 'string' || typeof value !== 'object' || value === null)
      throw new DamagedFileError('a record is damaged')
    this.#onRecord({ collection: this.#collection, key, value }, header.version)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new DamagedFileError('a record is not JSON', { cause: error })
  }
}

/**
 * Returns the schema version that a file declares, even if the rest is damaged; undefined: it declares none or does not
 * exist. Reads the first 4 KiB only.
 */
export async function peekHeader(
  path: string,
): Promise<{ version: number; header: DocumentHeader | undefined } | undefined> {
  let handle: Awaited<ReturnType<typeof open>>
  try {
    handle = await open(path, 'r')
  } catch {
    // Reading the whole file later reports the error.
    return undefined
  }
  try {
    const buffer = Buffer.alloc(4096)
    const { bytesRead } = await readingOf(path, () => handle.read(buffer, 0, buffer.length, 0))
    const text = buffer.toString('utf8', 0, bytesRead)
    const header = parseHeader(text.split('\n', 1)[0] ?? '')
    if (header !== undefined) return { version: header.version, header }
    // A newer Roomdesk wrote the file, or a person reformatted it: the version is valid in both cases.
    const found = /^\s*\{[^{[]*"version"\s*:\s*(\d{1,9})\s*[,}]/.exec(text)?.[1]
    return found === undefined ? undefined : { version: Number(found), header: undefined }
  } finally {
    await handle.close()
  }
}
