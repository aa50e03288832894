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

export interface StaticFile {
  body: Buffer
  /** Value of Content-Type. */
  type: string
  /** Whether the file's name contains a hash of its content, so that the content never changes. */
  immutable: boolean
}

/** Maximum total size of cached files, in bytes; further files are read each time. */
const maxKept = 64 * 1024 * 1024
/** Minimum interval of listing the folder again because of an unknown name, in milliseconds. */
const listAgainMs = 5_000

/**
 * Serves the files of a folder, each read once. Only files in the listing of the folder are served, so no file outside
 * the folder is accessible. Different spellings of a path give the same entry.
 */
export class StaticFiles {
  readonly #folder: string
  readonly #files = new Map<string, Promise<StaticFile | undefined>>()
  #names: ReadonlySet<string> = new Set()
  #listedAt = Number.NEGATIVE_INFINITY
  #listing: Promise<void> | undefined
  #kept = 0

  /** @param folder path; empty: no files */
  constructor(folder: string) {
    this.#folder = folder
  }

  /** Number and total size of the cached files. */
  get kept(): { files: number; bytes: number } {
    return { files: this.#files.size, bytes: this.#kept }
  }

  /** Returns the file at the percent-encoded path of a URL; `/` is `/index.html`. Undefined: no such file. */
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

/**
 * Returns the fallback value if a file or folder is missing.
 * @throws any other error, such as too many open files, because the file may exist
 */
function missing<T>(error: unknown, value: T): T {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return value
  throw error
}

/** Converts a path to the form used in the folder's listing. */
function nameOf(path: string): string | undefined {
  try {
    const name = posix.normalize(`/${decodeURIComponent(path)}`).slice(1)
    return name === '' ? 'index.html' : name
  } catch {
    return undefined
  }
}
