import { randomBytes } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { chmod, open, readFile, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode } from '../../../shared/error-code.ts'
import { insideOf } from '../../../shared/files/own-path.ts'
import { prefixes, sealedPrefix } from '../sealer.ts'
import { makeDataFolder } from './data-folder.ts'
import { backupsFolder } from './documents.ts'
import { linkOrCopyNew, listFolder, syncFolder } from './durable-files.ts'
import { readingOf } from './store-file-error.ts'

/** Thrown when a required key is missing or invalid. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
}

/**
 * Reads the 32-byte sealing key from a key file (64 hex digits, mode 0600) in a data folder. If there is neither a key
 * nor a sealed secret, creates a key durably.
 * If others may read the file, their access is removed.
 * @throws KeyFileError when the file does not contain a key, or is missing although there are sealed secrets: a new key
 * could not unseal the secrets. StoreFileError when the file cannot be read
 */
export async function loadKeyFile(path: string): Promise<Buffer> {
  for (;;) {
    try {
      return await readKeyFile(path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
    if (await holdsSealedSecrets(dirname(path))) {
      // Another process that starts at the same time may have created the key and sealed secrets with it.
      if (existsSync(path)) continue
      throw new KeyFileError(
        `${path} is missing, and the secrets of this site were sealed with its key: put the file back. ${withoutCopy}`,
      )
    }
    await createKeyFile(path)
  }
}

/**
 * Without the key no secret can be unsealed, not even the secret of this machine's node, so the site cannot continue.
 */
const withoutCopy = 'When no copy is left, start with an empty data folder: nothing opens the secrets of this one.'

async function readKeyFile(path: string): Promise<Buffer> {
  const text = (await readingOf(path, () => readFile(path, 'latin1'))).trim()
  if (!/^[0-9a-f]{64}$/.test(text)) {
    throw new KeyFileError(
      `${path} does not hold a sealing key (64 hex digits): put the right file back. ${withoutCopy}`,
    )
  }
  if (process.platform !== 'win32' && ((await stat(path)).mode & 0o077) !== 0) await close(path)
  return Buffer.from(text, 'hex')
}

/**
 * Restricts the file to its owner. File systems without modes, such as exFAT, reject this; the check of the data folder
 * reports such a file system.
 */
async function close(path: string): Promise<void> {
  try {
    await chmod(path, 0o600)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'ENOSYS')) throw error
  }
}

/**
 * Writes a complete key under a temporary name, and links the file to its final name. Therefore no process reads an
 * incomplete key, and only one of two concurrent creators succeeds.
 */
async function createKeyFile(path: string): Promise<void> {
  await makeDataFolder(dirname(path))
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(`${randomBytes(32).toString('hex')}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  try {
    await linkOrCopyNew(temporary, path)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  } finally {
    await rm(temporary, { force: true })
  }
  await syncFolder(dirname(path))
}

/**
 * Whether the files of a data folder, or its backups, contain a sealed secret. Stops reading at the first sealed
 * secret.
 * @param folder need not exist
 */
export async function holdsSealedSecrets(folder: string): Promise<boolean> {
  const backups = join(folder, backupsFolder)
  const folders = [folder, ...(await namesIn(backups)).map((name) => insideOf(backups, name))]
  for (const each of folders) {
    for (const name of await namesIn(each)) {
      if (/\.(json|ndjson)(\.|$)/.test(name) && (await holdsSealedText(insideOf(each, name)))) return true
    }
  }
  return false
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await listFolder(folder)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR')) return []
    throw error
  }
}

async function holdsSealedText(path: string): Promise<boolean> {
  let before = ''
  try {
    for await (const chunk of createReadStream(path, { encoding: 'latin1' })) {
      const text = before + String(chunk)
      if (prefixes.some((prefix) => text.includes(prefix))) return true
      before = text.slice(1 - sealedPrefix.length)
    }
  } catch (error) {
    // The path is a folder: opening the store reports the error.
    if (!hasCode(error, 'EISDIR', 'ENOENT')) throw error
  }
  return false
}
