import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { headName } from '../store/backups/backup-events.ts'
import { hasCode } from '../store/files/durable-files.ts'
import type { Sealer } from '../store/sealer.ts'

/** From where to where the log goes: what is outside of it was not cut off by anybody. */
export interface LogHead {
  /** The first entry kept, and what it follows. */
  oldest: { seq: number; prev: string }
  /** The last one that is on the disk. */
  newest: { seq: number; hash: string }
}

/** The file is overwritten in place, within one sector, so that no write leaves half of it. */
const headBytes = 384

const hash = z.string().length(43)
const headSchema = z.strictObject({
  oldest: z.strictObject({ seq: z.int().min(1), prev: hash }),
  newest: z.strictObject({ seq: z.int().min(0), hash }),
})
const fileSchema = z.strictObject({ head: z.string(), proof: z.string() })

/** Content of a folder's head file. `forged`: it was not written with this key. */
export type ReadHead = { state: 'good'; head: LogHead } | { state: 'missing' | 'forged' }

/** @throws what the file system says, unless that there is no such file */
export async function readHead(folder: string, sealer: Pick<Sealer, 'proof'>): Promise<ReadHead> {
  let text: string
  try {
    text = await readFile(join(folder, headName), 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { state: 'missing' }
    throw error
  }
  try {
    const { head, proof } = fileSchema.parse(JSON.parse(text))
    if (!isSame(proof, proofOf(head, sealer))) return { state: 'forged' }
    return { state: 'good', head: headSchema.parse(JSON.parse(head)) }
  } catch {
    return { state: 'forged' }
  }
}

/** Keeps the head file up to date. */
export class HeadFile {
  readonly #sealer: Pick<Sealer, 'proof'>
  readonly #path: string
  #handle: FileHandle | undefined

  constructor(folder: string, sealer: Pick<Sealer, 'proof'>) {
    this.#path = join(folder, headName)
    this.#sealer = sealer
  }

  /** The entries that it names must be on disk already. @throws what the file system says */
  async write(head: LogHead): Promise<void> {
    const text = JSON.stringify(head)
    const line = JSON.stringify({ head: text, proof: proofOf(text, this.#sealer) })
    this.#handle ??= await openInPlace(this.#path)
    await this.#handle.write(`${line.padEnd(headBytes - 1)}\n`, 0)
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.datasync().finally(() => handle.close())
  }
}

async function openInPlace(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    return await open(path, 'wx', 0o600)
  }
}

function proofOf(head: string, sealer: Pick<Sealer, 'proof'>): string {
  return sealer.proof('event log', head)
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)]
  return first.length === second.length && timingSafeEqual(first, second)
}
