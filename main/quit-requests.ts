import { type FSWatcher, watch } from 'node:fs'
import { open } from 'node:fs/promises'
import { insideOf } from '../shared/files/own-path.ts'

/**
 * File in the program's folder: a request to end, for the apps of all users that were started from there. It needs the rights to replace the program: those of administrators and the
 * system where Roomdesk is installed for all users, of the user where it is installed for one. A named pipe would need the same rights (the default of `CreateNamedPipe`), but any program
 * can create a pipe of that name first, and libuv opens pipes without SECURITY_SQOS_PRESENT, so that program could act with the rights of the installer that connects to it.
 */
export const requestName = 'quit-request'
/** Longest request, in bytes. */
const maxBytes = 64
/** File systems round the times of files to ticks of the system's clock. In milliseconds. */
const tickMs = 100

/** `quit`: the app stays ended. `restart`: it starts again when the process with this id, the installer, has ended. */
export type QuitRequest = { kind: 'quit' } | { kind: 'restart'; after: number }

/** Reads a request: a line `quit`, or `restart-after ` and an id of a process. @returns undefined: it is none, or not written whole */
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
  /** A file from before this start asked another process. In milliseconds since 1970. */
  readonly #startedAt: number
  #state: 'idle' | 'reading' | 'changed' | 'done' = 'idle'

  /**
   * @param folder of the program
   * @param onRequest called once
   * @throws errors of fs.watch
   */
  constructor(folder: string, onRequest: (request: QuitRequest) => void, now: () => number = Date.now) {
    this.#path = insideOf(folder, requestName)
    this.#onRequest = onRequest
    this.#startedAt = now()
    this.#watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === requestName) this.#look()
    })
    // The folder was removed: nothing asks here any more.
    this.#watcher.on('error', () => this.close())
  }

  close(): void {
    this.#state = 'done'
    this.#watcher.close()
  }

  /** Reads once at a time, however often the file changes. */
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
        // It was removed, or is being written: its next change is read.
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
