import type { Low } from 'lowdb'
import { insideOf } from '../../../shared/files/own-path.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { withNext } from '../journal/journal-line.ts'
import type { Away, Storage } from '../storage.ts'
import { type DocumentName, documentNames, documentFileName, type StoredDocument } from './documents.ts'
import { copyDurably } from './durable-files.ts'
import type { Journal } from './journal/journal.ts'

export interface FileStorageOptions {
  folder: string
  journal: Journal
  files: Readonly<Record<DocumentName, Low<StoredDocument>>>
  /** First segment that the previous version of each file needs. */
  previous: Readonly<Partial<Record<DocumentName, number>>>
  /** Returns the total size of the files as last written, in bytes. */
  fileBytes: () => number
  roomNumber: () => number
  clock: () => number
}

/** Size of the reused write buffer, in bytes; larger writes allocate their own. */
const bufferBytes = 512 * 1024

/**
 * Stores the journal's segments and lowdb's files. A snapshot first ends the current segment: at this instant, memory
 * equals the content of all ended segments. The files contain this state, and name the next segment as the first to
 * replay.
 * Segments are kept while a file, or its previous version, needs them: falling back by one version loses nothing.
 */
export class FileStorage implements Storage {
  readonly medium = 'disk'
  readonly #options: FileStorageOptions
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes)
  readonly #first: Record<DocumentName, number>
  readonly #previous: Partial<Record<DocumentName, number>>
  /** Time at which each file was written, in milliseconds since the epoch. */
  readonly #writtenAt: Record<DocumentName, number>

  constructor(options: FileStorageOptions) {
    const { site, rooms, sessions } = options.files
    this.#options = options
    this.#first = {
      site: site.data.first_segment,
      rooms: rooms.data.first_segment,
      sessions: sessions.data.first_segment,
    }
    this.#previous = { ...options.previous }
    this.#writtenAt = { site: site.data.written_at, rooms: rooms.data.written_at, sessions: sessions.data.written_at }
  }

  async append(lines: readonly string[]): Promise<void> {
    let text = ''
    for (const [i, line] of lines.entries()) text += i === lines.length - 1 ? line : withNext(line)
    // A UTF-16 code unit needs at most 3 bytes of UTF-8.
    const fits = text.length * 3 <= this.#buffer.length
    const bytes = fits ? this.#buffer : Buffer.from(text, 'utf8')
    const length = fits ? this.#buffer.write(text, 'utf8') : bytes.length
    await this.#options.journal.append(bytes, length, lines.length)
  }

  /** Returns undefined: a disk is always reachable, although it may reject writes or hang. */
  away(): Away | undefined {
    return undefined
  }

  onAway(_listener: () => void): void {}

  /** Time at which the oldest file was written, in milliseconds since the epoch. */
  get snapshotAt(): number {
    return Math.min(this.#writtenAt.site, this.#writtenAt.rooms, this.#writtenAt.sessions)
  }

  get journalBytes(): number {
    return this.#options.journal.bytesFrom(Math.min(this.#first.site, this.#first.rooms, this.#first.sessions))
  }

  get snapshotBytes(): number {
    return this.#options.fileBytes()
  }

  async beginSnapshot(): Promise<() => Promise<void>> {
    const { files, journal, roomNumber, clock } = this.#options
    const first = await journal.rotate()
    const at = clock()
    const settled = Promise.allSettled(
      documentNames.map((name) => {
        const { data } = files[name]
        data.first_segment = first
        data.written_at = at
        data.room_number = roomNumber()
        return files[name].write()
      }),
    )
    return async () => {
      const results = await settled
      for (const [i, name] of documentNames.entries()) {
        if (results[i]?.status !== 'fulfilled') continue
        this.#previous[name] = this.#first[name]
        this.#first[name] = first
        this.#writtenAt[name] = at
      }
      const refused = results.find((result) => result.status === 'rejected')
      if (refused !== undefined) throw refused.reason
      await journal.cut(Math.min(...documentNames.map((name) => this.#previous[name] ?? this.#first[name])))
    }
  }

  /** Copies the files: with hard links, damage to a file would also damage its backup. */
  async writeDocuments(folder: string): Promise<void> {
    await copyFiles(this.#options.folder, folder, documentNames.map(documentFileName))
  }

  abandon(): void {}

  close(): Promise<void> {
    return this.#options.journal.close()
  }
}

/** Copies files of a data folder into a new backup; skips missing files. */
export async function copyFiles(from: string, to: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    try {
      await copyDurably(insideOf(from, name), insideOf(to, name))
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}
