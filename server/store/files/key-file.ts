import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, open, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeDataFolder } from './data-folder.ts'
import { hasCode } from '../../../shared/error-code.ts'
import { linkOrCopyNew, syncFolder } from './durable-files.ts'
import { holdsSealedSecrets } from './sealed-secrets.ts'
import { readingOf } from './store-file-error.ts'

/** There is no key, where there must be one. */
export class KeyFileError extends Error {
  override readonly name = 'KeyFileError'
}

/**
 * The 32-byte sealing key of a key file (64 hex digits, mode 0600) in a data folder. Where there is none, and nothing that was sealed with it, it is made, durably.
 * A file that others may read is closed to them.
 * @throws KeyFileError when the file does not hold a key, or is missing: a new one would make every stored secret unreadable. StoreFileError when it cannot be read.
 */
export async function loadKeyFile(path: string): Promise<Buffer> {
  for (;;) {
    try {
      return await readKeyFile(path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
    if (await holdsSealedSecrets(dirname(path))) {
      // One that starts at the same time may have made it since, and sealed with it.
      if (existsSync(path)) continue
      throw new KeyFileError(
        `${path} is missing, and the secrets of this site were sealed with its key: put the file back. ${withoutCopy}`,
      )
    }
    await createKeyFile(path)
  }
}

/** Nothing opens without its key, not even the node of this machine: what there was cannot be gone on with. */
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

/** File systems without modes, such as exFAT, refuse it; the data folder reports that others may look into it. */
async function close(path: string): Promise<void> {
  try {
    await chmod(path, 0o600)
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'ENOSYS')) throw error
  }
}

/** Writes a whole new key under another name and links it: nobody ever sees half a key, and of two makers one wins. */
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
