import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { app, safeStorage } from 'electron'
import { hasCode } from '../shared/error-code.ts'
import type { SiteKeyView } from '../shared/console/site.ts'
import { syncFolder } from '../server/store/files/durable-files.ts'
import { renameFile } from '../server/store/system/rename-file.ts'
import { holdsSealedSecrets, KeyFileError, loadKeyFile } from '../server/store/files/key-file.ts'
import { createSealer, type Sealer } from '../server/store/sealer.ts'

const wrappedName = 'seal.key.wrapped'
const plainName = 'seal.key'

/** Key that seals the site's secrets, and how the key is protected. */
export interface DataKey {
  /** Key of 32 bytes. */
  key: Buffer
  /** `system`: wrapped by the keychain of this user's session; `file`: a file readable only by this user. */
  protection: 'system' | 'file'
  /** Name of the key's file in the data folder. */
  file: typeof wrappedName | typeof plainName
}

/** The keychain cannot unwrap the key, or refuses to wrap a key. */
export class KeychainError extends Error {
  override readonly name = 'KeychainError'
  /** Whether the keychain exists but is locked. */
  readonly isLocked: boolean

  constructor(message: string, cause: unknown) {
    super(message, { cause })
    // Electron reports a locked keychain only in the text of the message.
    this.isLocked = cause instanceof Error && cause.message.includes('temporarily unavailable')
  }
}

/**
 * Loads the key of a data folder: unwraps the existing key, or generates and wraps a new one. An existing unwrapped key
 * file (created headless, or without a keychain) is used unchanged, so that the folder works in both modes. If the
 * folder contains secrets sealed with a missing key, no new key is generated.
 * @throws KeychainError, KeyFileError
 */
export async function loadDataKey(folder: string): Promise<DataKey> {
  const wrappedFile = join(folder, wrappedName)
  const wrapped = await readOptional(wrappedFile)
  if (wrapped !== undefined) return await unwrap(wrapped, wrappedFile)
  const plainFile = join(folder, plainName)
  if ((await readOptional(plainFile)) !== undefined) return await plainKey(plainFile)
  if (await holdsSealedSecrets(folder)) {
    throw new KeyFileError(
      `${folder} holds neither ${wrappedName} nor ${plainName}, and the secrets of this site were sealed with that key: put the file back.`,
    )
  }
  const key = randomBytes(32)
  const sealed = await wrap(key)
  if (sealed === undefined) return await plainKey(plainFile)
  await writeOnce(wrappedFile, sealed)
  return { key, protection: 'system', file: wrappedName }
}

async function plainKey(path: string): Promise<DataKey> {
  return { key: await loadKeyFile(path), protection: 'file', file: plainName }
}

/**
 * Returns the description of the key for the console.
 * @param session Electron's session folder: on Windows a file in this folder is needed to unwrap the key
 */
export function siteKeyView({ protection, file }: Omit<DataKey, 'key'>, session: string): SiteKeyView {
  if (protection === 'file') return { place: 'file', file, unprotected: true, also: '' }
  return {
    place: 'keychain',
    file,
    unprotected: false,
    also: process.platform === 'win32' ? join(session, 'Local State') : '',
  }
}

/** Returns the sealer of a controller with this key, and its view of the key. */
export function sealingWith({ key, ...found }: DataKey): { sealer: Sealer; siteKey: SiteKeyView } {
  return { sealer: createSealer(key), siteKey: siteKeyView(found, app.getPath('sessionData')) }
}

/** Wraps a key. Returns undefined if no working keychain would protect it. @throws KeychainError */
async function wrap(key: Buffer): Promise<Buffer | undefined> {
  if (!(await safeStorage.isAsyncEncryptionAvailable())) return undefined
  try {
    const sealed = await safeStorage.encryptStringAsync(key.toString('hex'))
    return protects(sealed) ? sealed : undefined
  } catch (cause) {
    throw new KeychainError('The keychain of this session does not take the key of this site.', cause)
  }
}

/**
 * Whether a working keychain sealed these bytes. On Linux without a working keychain, Chromium seals with a key from
 * its own source code, recognizable only by the prefix `v10` (os_crypt). On other systems, the prefix `v10` belongs to
 * the keychain.
 */
function protects(sealed: Buffer): boolean {
  return process.platform !== 'linux' || sealed.subarray(0, 3).toString('latin1') !== 'v10'
}

/** Unwraps a key. If its wrapping used a public or outdated key, also tries to wrap it again. @throws KeychainError */
async function unwrap(wrapped: Buffer, path: string): Promise<DataKey> {
  const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(wrapped).catch((cause: unknown) => {
    throw new KeychainError(`The keychain of this session does not open ${path}.`, cause)
  })
  if (!/^[0-9a-f]{64}$/.test(result)) throw new KeychainError(`${path} does not hold a sealing key.`, undefined)
  const key = Buffer.from(result, 'hex')
  const file = wrappedName
  if (!shouldReEncrypt && protects(wrapped)) return { key, protection: 'system', file }
  // If wrapping fails, the file keeps its current wrapping, and `protection` describes that wrapping.
  const again = await wrap(key).catch(() => undefined)
  if (again === undefined) return { key, protection: protects(wrapped) ? 'system' : 'file', file }
  await writeOnce(path, again)
  return { key, protection: 'system', file }
}

async function readOptional(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Writes a key file durably before the key is first used: secrets sealed with a lost key are lost. */
async function writeOnce(path: string, content: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const handle = await open(`${path}.new`, 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await renameFile(`${path}.new`, path)
  await syncFolder(dirname(path))
}
