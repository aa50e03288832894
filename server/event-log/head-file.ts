import { type FileHandle, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { hasCode } from '../../shared/error-code.ts'
import { headName } from '../store/backups/backup-events.ts'
import type { Sealer } from '../store/sealer.ts'
import { type LogHead, proveHead, type ReadHead, readProvenHead } from './head-proof.ts'

/** The file is overwritten in place, within one sector, so that no write leaves half of it. */
const headBytes = 384

const fileSchema = z.strictObject({ head: z.string(), proof: z.string() })

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
    return readProvenHead(fileSchema.parse(JSON.parse(text)), sealer, 'event log')
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
    const line = JSON.stringify(proveHead(head, this.#sealer, 'event log'))
    this.#handle ??= await openInPlace(this.#path)
    await this.#handle.write(`${line.padEnd(headBytes - 1)}\n`, 0)
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    try {
      await handle?.datasync()
    } finally {
      await handle?.close()
    }
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
