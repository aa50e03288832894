import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { safeStorage } from 'electron'
import { hasCode, syncFolder } from '../server/store/files/durable-files.ts'
import { loadKeyFile } from '../server/store/sealer.ts'

/** The key that seals the site's secrets, and what protects it. */
export interface DataKey {
  /** 32 bytes. */
  key: Buffer
  /** `system`: wrapped by the keychain of this user's session; `file`: a key file that only this user may read. */
  protection: 'system' | 'file'
}

/** The wrapped key is there and cannot be unwrapped: the keychain is locked, or another user's. */
export class WrappedKeyError extends Error {
  override readonly name = 'WrappedKeyError'
}

const wrappedName = 'seal.key.wrapped'
const plainName = 'seal.key'

/**
 * The key of a data folder: unwrapped, or made and wrapped. A key file that is there already (made headless, or where there was
 * no keychain) is used as it is, so that the folder works with either face.
 * @throws WrappedKeyError, KeyFileError
 */
export async function loadDataKey(folder: string): Promise<DataKey> {
  const wrappedFile = join(folder, wrappedName)
  const wrapped = await readOptional(wrappedFile)
  if (wrapped !== undefined) return { key: await unwrap(wrapped, wrappedFile), protection: 'system' }
  const hasPlain = (await readOptional(join(folder, plainName))) !== undefined
  if (hasPlain || !(await hasKeychain())) return { key: await loadKeyFile(join(folder, plainName)), protection: 'file' }
  const key = randomBytes(32)
  await writeOnce(wrappedFile, await safeStorage.encryptStringAsync(key.toString('hex')))
  return { key, protection: 'system' }
}

/** A keychain that protects: on Linux Electron also offers one whose password is in its own source. */
async function hasKeychain(): Promise<boolean> {
  if (!(await safeStorage.isAsyncEncryptionAvailable())) return false
  if (process.platform !== 'linux') return true
  const backend = safeStorage.getSelectedStorageBackend()
  return backend !== 'basic_text' && backend !== 'unknown'
}

async function unwrap(wrapped: Buffer, path: string): Promise<Buffer> {
  try {
    const { result } = await safeStorage.decryptStringAsync(wrapped)
    if (!/^[0-9a-f]{64}$/.test(result)) throw new Error('not a key')
    return Buffer.from(result, 'hex')
  } catch (cause) {
    throw new WrappedKeyError(`The keychain of this session does not open ${path}.`, { cause })
  }
}

async function readOptional(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Durable before it is used: a secret sealed with a lost key is lost. */
async function writeOnce(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const handle = await open(`${path}.new`, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(`${path}.new`, path)
  await syncFolder(dirname(path))
}
