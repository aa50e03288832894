import { readFile } from 'node:fs/promises'
import { extname, join, normalize, sep } from 'node:path'

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
}

/** A file of the console's page. */
export interface PageFile {
  body: Buffer
  type: string
  /** Its name holds a hash of its content, so it never changes. */
  immutable: boolean
}

/** Serves the built console from a folder; files are read once and kept. A path outside the folder does not exist. */
export class StaticPage {
  readonly #folder: string
  readonly #files = new Map<string, PageFile>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** The file at a URL path, or undefined. */
  async file(path: string): Promise<PageFile | undefined> {
    const known = this.#files.get(path)
    if (known !== undefined) return known
    let name: string
    try {
      name = normalize(decodeURIComponent(path === '/' ? '/index.html' : path))
    } catch {
      return undefined
    }
    const type = types[extname(name)]
    const full = join(this.#folder, name)
    if (type === undefined || name.includes('\0') || !full.startsWith(this.#folder + sep)) return undefined
    const body = await readFile(full).catch(() => undefined)
    if (body === undefined) return undefined
    const file = { body, type, immutable: name.startsWith(`${sep}assets${sep}`) }
    this.#files.set(path, file)
    return file
  }
}
