import { belowOf, isPathPart } from '../../shared/files/own-path.ts'
import { readdir, readFile } from 'node:fs/promises'
import { extname, posix, relative, sep } from 'node:path'
import { hasCode } from '../../shared/error-code.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.tflite': 'application/octet-stream',
  '.mp3': 'audio/mpeg',
}

/** A file of a page. */
export interface StaticFile {
  body: Buffer
  /** Content-Type. */
  type: string
  /** Its name holds a hash of its content, so it never changes. */
  immutable: boolean
}

/** Files that are kept in memory, in bytes; what does not fit is read each time. */
const maxKept = 64 * 1024 * 1024
/** A name that is not there makes the folder be listed again no sooner than this after the last time. Milliseconds. */
const listAgainMs = 5_000

/**
 * Serves the files of a folder, each read once. Only names that the folder's own listing holds exist: however a path spells a file, it is the same entry, and
 * nothing outside the folder can be named.
 */
export class StaticFiles {
  readonly #folder: string
  readonly #files = new Map<string, Promise<StaticFile | undefined>>()
  #names: ReadonlySet<string> = new Set()
  #listedAt = Number.NEGATIVE_INFINITY
  #listing: Promise<void> | undefined
  #kept = 0

  /** @param folder empty: it holds nothing */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** How much is kept in memory. */
  get kept(): { files: number; bytes: number } {
    return { files: this.#files.size, bytes: this.#kept }
  }

  /** The file at the path of a URL, percent-encoded; `/` is `/index.html`. Undefined: there is none. */
  async file(path: string): Promise<StaticFile | undefined> {
    const name = nameOf(path)
    if (name === undefined || this.#folder === '') return undefined
    if (!this.#names.has(name)) await this.#list()
    if (!this.#names.has(name)) return undefined
    const known = this.#files.get(name)
    if (known !== undefined) return await known
    const reading = this.#read(name)
    this.#files.set(name, reading)
    const file = await reading.catch((error: unknown) => {
      this.#files.delete(name)
      throw error
    })
    if (file === undefined || this.#kept + file.body.length > maxKept) this.#files.delete(name)
    else this.#kept += file.body.length
    return file
  }

  async #read(name: string): Promise<StaticFile | undefined> {
    const type = types[extname(name)]
    if (type === undefined) return undefined
    const body = await readFile(belowOf(this.#folder, name)).catch((error: unknown) => missing(error, undefined))
    return body === undefined ? undefined : { body, type, immutable: name.startsWith('assets/') }
  }

  #list(): Promise<void> {
    if (this.#listing === undefined && performance.now() - this.#listedAt < listAgainMs) return Promise.resolve()
    this.#listing ??= this.#readNames().finally(() => {
      this.#listing = undefined
      this.#listedAt = performance.now()
    })
    return this.#listing
  }

  async #readNames(): Promise<void> {
    const entries = await readdir(this.#folder, { recursive: true, withFileTypes: true }).catch((error: unknown) =>
      missing(error, []),
    )
    const names = entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        [...relative(this.#folder, parentPath).split(sep), name].filter((part) => part !== ''),
      )
    this.#names = new Set(names.filter((parts) => parts.every(isPathPart)).map((parts) => parts.join('/')))
  }
}

/** What stands for a file or folder that is missing. @throws the error, if it is another: a system that is out of file descriptors has the page all the same */
function missing<T>(error: unknown, value: T): T {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return value
  throw error
}

/** A path as the folder's listing writes it. */
function nameOf(path: string): string | undefined {
  try {
    const name = posix.normalize(`/${decodeURIComponent(path)}`).slice(1)
    return name === '' ? 'index.html' : name
  } catch {
    return undefined
  }
}
