import { type FSWatcher, watch } from 'node:fs'
import { open } from 'node:fs/promises'
import { insideOf } from '../shared/files/own-path.ts'

/**
 * File in the program's folder with a request to end, for the apps of all users started from this folder. Writing this
 * file requires the right to replace the program. If Roomdesk is installed for all users, administrators and the system
 * have this right; if it is installed for one user, that user has it.
 * A named pipe would require the same rights (the default of `CreateNamedPipe`), but any program can create a pipe with
 * that name first. libuv opens pipes without SECURITY_SQOS_PRESENT, so that program could act with the rights of the
 * connecting installer.
 */
export const requestName = 'quit-request'
/** Maximum size of a request, in bytes. */
const maxBytes = 64
/** Granularity to which file systems may round the times of files, in milliseconds. */
const tickMs = 100

/**
 * `quit`: the app ends. `restart`: the app ends, and starts again when the installer, the process with the id `after`,
 * has ended.
 */
export type QuitRequest = { kind: 'quit' } | { kind: 'restart'; after: number }

/**
 * Parses a request: a line `quit`, or `restart-after ` and a process id.
 * @returns undefined if it is invalid or incomplete
 */
export function parseQuitRequest(text: string): QuitRequest | undefined {
  const [, what, id] = /^(quit|restart-after (\d{1,10}))\r?\n$/.exec(text) ?? []
  if (what === undefined) return undefined
  return id === undefined ? { kind: 'quit' } : { kind: 'restart', after: Number(id) }
}

/** Watches the program's folder for a request to end. */
export class QuitRequests {
  readonly #watcher: FSWatcher
  readonly #path: string
  readonly #onRequest: (request: QuitRequest) => void
  /** Start time, in milliseconds since the epoch. A file written earlier was meant for another process. */
  readonly #startedAt: number
  #state: 'idle' | 'reading' | 'changed' | 'done' = 'idle'

  /** @param folder the program's folder @param onRequest called at most once @throws errors of fs.watch */
  constructor(folder: string, onRequest: (request: QuitRequest) => void, now: () => number = Date.now) {
    this.#path = insideOf(folder, requestName)
    this.#onRequest = onRequest
    this.#startedAt = now()
    this.#watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === requestName) this.#look()
    })
    // The folder was removed, so no further requests can arrive.
    this.#watcher.on('error', () => this.close())
  }

  close(): void {
    this.#state = 'done'
    this.#watcher.close()
  }

  /** Reads the file after a change. Only one read runs at a time; a change during a read triggers another read. */
  #look(): void {
    if (this.#state === 'done') return
    if (this.#state !== 'idle') {
      this.#state = 'changed'
      return
    }
    this.#state = 'reading'
    this.#read().then(
      (request) => {
        if (this.#state === 'done') return
        const isChanged = this.#state === 'changed'
        this.#state = 'idle'
        if (request !== undefined) {
          this.close()
          this.#onRequest(request)
        } else if (isChanged) this.#look()
      },
      () => {
        // The file was removed, or is being written: its next change triggers another read.
        if (this.#state !== 'done') this.#state = 'idle'
      },
    )
  }

  async #read(): Promise<QuitRequest | undefined> {
    const file = await open(this.#path, 'r')
    try {
      const { mtimeMs, size } = await file.stat()
      if (mtimeMs < this.#startedAt - tickMs || size > maxBytes) return undefined
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(maxBytes) })
      return parseQuitRequest(buffer.toString('latin1', 0, bytesRead))
    } finally {
      await file.close()
    }
  }
}
