import { type FileHandle, open, rm } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { Adapter } from 'lowdb'
import PQueue from 'p-queue'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { checksum } from './document-reader.ts'
import {
  type DocumentName,
  documentFileName,
  layout,
  previousName,
  type StoredDocument,
  temporaryName,
} from './documents.ts'
import { linkOrCopy, syncFolder } from './durable-files.ts'
import { renameFile } from '../system/rename-file.ts'
import type { CollectionName } from '../store.ts'

/** Length of the text gathered before a write, in characters: takes about 1 ms of JSON.stringify. */
const sliceLength = 128 * 1024
/** Bytes written between two syncs. Without these syncs, a large file would delay the writes of the journal. */
const syncEvery = 2 * 1024 * 1024

/**
 * Creates the queue that the files of one snapshot share. The files are written one at a time, so that memory holds a
 * slice of one file only.
 */
export const newWriteQueue = (): PQueue => new PQueue({ concurrency: 1 })

/** The records of one collection at one instant. Values are never mutated, so references are a complete copy. */
interface Frozen {
  collection: CollectionName
  keys: readonly string[]
  values: readonly object[]
}

export interface DocumentAdapterOptions {
  folder: string
  name: DocumentName
  version: number
  /** From `newWriteQueue`, shared by the files of one snapshot. */
  queue: PQueue
  /** Reads the file, including the recovery of a damaged file. */
  read: () => Promise<StoredDocument>
}

/**
 * lowdb's adapter for one file. Writes a temporary file, syncs it, renames it over the old file (kept as
 * `<name>.previous.json`), and syncs the folder.
 * The file is one JSON document with one record per line, so it can be read and written in slices.
 * It contains the state at the time of the call, even if writing takes longer.
 */
export class DocumentAdapter implements Adapter<StoredDocument> {
  readonly #options: DocumentAdapterOptions
  /** Size of the file as last written, in bytes. */
  bytes = 0

  constructor(options: DocumentAdapterOptions) {
    this.#options = options
  }

  read(): Promise<StoredDocument> {
    return this.#options.read()
  }

  write(document: StoredDocument): Promise<void> {
    const { name, version, queue } = this.#options
    const { first_segment, written_at, room_number, state } = document
    const header = `${JSON.stringify({ file: name, version, first_segment, written_at, room_number }).slice(0, -1)},\n`
    const frozen = layout[name].map((collection): Frozen => {
      const map = state[collection]
      return { collection, keys: [...map.keys()], values: [...map.values()] }
    })
    return queue.add(() => this.#replace(header, frozen))
  }

  async #replace(header: string, frozen: readonly Frozen[]): Promise<void> {
    const { folder, name } = this.#options
    const target = insideOf(folder, documentFileName(name))
    const temporary = insideOf(folder, temporaryName(name))
    try {
      this.bytes = await writeRecords(temporary, header, frozen)
      try {
        await linkOrCopy(target, insideOf(folder, previousName(name)))
      } catch (error) {
        // No previous file exists at the first write, or after a damaged file was set aside.
        if (!hasCode(error, 'ENOENT')) throw error
      }
      await renameFile(temporary, target)
    } catch (error) {
      // The first error is the one to report.
      await rm(temporary, { force: true }).catch(() => undefined)
      throw error
    }
    await syncFolder(folder)
  }
}

async function writeRecords(path: string, header: string, frozen: readonly Frozen[]): Promise<number> {
  const handle = await open(path, 'w', 0o600)
  try {
    const out = new SlicedFile(handle)
    out.text = header
    for (const { collection, keys, values } of frozen) {
      out.text += `"${collection}":[\n`
      for (let i = 0; i < keys.length; i++) {
        if (out.text.length >= sliceLength) await out.flush()
        out.text += `[${JSON.stringify(keys[i])},${JSON.stringify(values[i])}]${i === keys.length - 1 ? '' : ','}\n`
      }
      out.text += '],\n'
    }
    await out.flush()
    out.text = `"checksum":"${checksum(out.crc)}"}\n`
    await out.flush()
    await handle.sync()
    return out.bytes
  } finally {
    await handle.close()
  }
}

/** Gathers text and writes it in slices. */
class SlicedFile {
  text = ''
  crc = 0
  bytes = 0
  #unsynced = 0
  readonly #handle: FileHandle
  readonly #buffer = Buffer.allocUnsafeSlow(sliceLength * 4)

  constructor(handle: FileHandle) {
    this.#handle = handle
  }

  async flush(): Promise<void> {
    const text = this.text
    this.text = ''
    // A UTF-16 code unit needs at most 3 bytes of UTF-8.
    const fits = text.length * 3 <= this.#buffer.length
    const slice = fits ? this.#buffer.subarray(0, this.#buffer.write(text, 'utf8')) : Buffer.from(text, 'utf8')
    this.crc = crc32(slice, this.crc)
    for (let done = 0; done < slice.length; ) {
      const { bytesWritten } = await this.#handle.write(slice, done, slice.length - done, null)
      done += bytesWritten
    }
    this.bytes += slice.length
    this.#unsynced += slice.length
    if (this.#unsynced >= syncEvery) {
      this.#unsynced = 0
      await this.#handle.datasync()
    }
  }
}
