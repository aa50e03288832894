import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readdir, rm } from 'node:fs/promises'
import { makeOwnFolder } from '../../shared/files/folder-owner.ts'
import { insideOf } from '../../shared/files/own-path.ts'
import { renameFile } from '../../server/store/system/rename-file.ts'
import type { VerifiedRelease } from './release.ts'
import { problemOf, UpdateProblem } from './update-problem.ts'
import type { UpdateSource } from './update-source.ts'

/**
 * Downloads the installer of a release and verifies its checksum. Removes all other files of the folder.
 * @param onPart called with the number of bytes received so far
 * @returns the path of the installer
 * @throws UpdateProblem; a file with another checksum is deleted
 */
export async function fetchInstaller(
  source: UpdateSource,
  release: VerifiedRelease,
  folder: string,
  onPart: (bytes: number) => void = () => undefined,
): Promise<string> {
  const path = insideOf(folder, release.file)
  await makeOwnFolder(folder, 'Remove it, and try again.').catch((error: unknown) => {
    throw problemOf(error, 'unreadable')
  })
  await clean(folder, release.file)
  if (await isAsAnnounced(path, release)) return path
  const part = `${path}.part`
  try {
    await store(source, release, part, onPart)
    await renameFile(part, path)
  } catch (error) {
    // Only the first error is reported. If the partial file remains, the next download replaces it.
    await rm(part, { force: true }).catch(() => undefined)
    throw problemOf(error, 'unreadable')
  }
  return path
}

/** Whether a file has the announced checksum. Must be checked again immediately before the installation. */
export async function isAsAnnounced(path: string, { sha512 }: VerifiedRelease): Promise<boolean> {
  const hash = createHash('sha512')
  try {
    for await (const part of createReadStream(path)) hash.update(part as Buffer)
  } catch {
    // The file will be downloaded again.
    return false
  }
  return hash.digest('base64') === sha512
}

async function store(
  source: UpdateSource,
  { file, sha512, size }: VerifiedRelease,
  path: string,
  onPart: (bytes: number) => void,
): Promise<void> {
  const hash = createHash('sha512')
  const handle = await open(path, 'w', 0o600)
  let bytes = 0
  try {
    for await (const part of await source.open(file)) {
      bytes += part.length
      if (bytes > size) throw new UpdateProblem('checksum', file)
      hash.update(part)
      await handle.write(part)
      onPart(bytes)
    }
    await handle.sync()
  } finally {
    await handle.close()
  }
  if (bytes < size) throw new UpdateProblem('truncated', file)
  if (hash.digest('base64') !== sha512) throw new UpdateProblem('checksum', file)
}

/** Removes the files of other releases. */
async function clean(folder: string, keep: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name !== keep) await rm(insideOf(folder, name), { recursive: true, force: true })
}
