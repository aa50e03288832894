import { execFileSync } from 'node:child_process'
import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { insideOf, type OwnPath, PathError, withSuffix } from '../../../shared/files/own-path.ts'
import {
  makeInside,
  openInside,
  refuseLinks,
  removeInside,
  reserveInside,
  sizeInside,
} from '../../../shared/files/real-path.ts'

/** A folder that another program may write, beside a file that it must not reach. */
async function place(): Promise<{ folder: string; outside: string; secret: string }> {
  const root = await mkdtemp(join(tmpdir(), 'roomdesk-links-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  const [folder, outside] = [join(root, 'folder'), join(root, 'outside')]
  await mkdir(join(folder, 'room'), { recursive: true })
  await mkdir(outside)
  const secret = join(outside, 'seal.key')
  await writeFile(secret, 'secret')
  await writeFile(join(folder, 'room', '1.mp4'), 'film')
  return { folder, outside, secret }
}

/** Every way in which a file is reached. */
async function reachAll(folder: string, path: OwnPath): Promise<string[]> {
  const read: string[] = []
  const noteText = async (work: Promise<{ readFile(): Promise<Buffer>; close(): Promise<void> }>): Promise<void> => {
    const handle = await work
    read.push((await handle.readFile()).toString())
    await handle.close()
  }
  const write = async (): Promise<void> => {
    const handle = await openInside(folder, path, 'append')
    await handle.appendFile('more')
    await handle.close()
  }
  const ways = [
    () => noteText(openInside(folder, path)),
    () => noteText(openInside(folder, path, 'change')),
    write,
    () => sizeInside(folder, path),
    () => makeInside(folder, withSuffix(path, '-folder')),
    async () => void (await writeFile(await reserveInside(folder, path), 'reserved')),
    () => removeInside(folder, path, { recursive: true }),
  ]
  for (const way of ways) await way().catch((error: unknown) => expect(error).toBeInstanceOf(Error))
  return read
}

test('no planted link anywhere in the folder leads out of it', async () => {
  const names = fc.constantFrom('room', 'a', 'b', '1.mp4')
  const paths = fc.array(names, { minLength: 1, maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(paths, paths, fc.boolean(), async (planted, reached, toFile) => {
      const { folder, outside, secret } = await place()
      const link = insideOf(folder, ...planted)
      await mkdir(dirname(link), { recursive: true }).catch(() => {})
      await rm(link, { recursive: true, force: true }).catch(() => {})
      await symlink(toFile ? secret : outside, link).catch(() => {})
      // The link may stand for the folder of the file, too.
      for (const parts of [reached, [...planted, 'seal.key'], planted]) {
        const read = await reachAll(folder, insideOf(folder, ...parts))
        expect(read).not.toContain('secret')
      }
      expect(await readdir(outside)).toEqual(['seal.key'])
      expect(await readFile(secret, 'utf8')).toBe('secret')
    }),
    { numRuns: 60 },
  )
})

test('a link planted while the file is opened is detected', async () => {
  const { folder, outside, secret } = await place()
  await writeFile(join(outside, '1.mp4'), 'secret film')
  const path = insideOf(folder, 'room', '1.mp4')
  let swapping = true
  const swap = (async () => {
    while (swapping) {
      await rename(join(folder, 'room'), join(folder, 'kept')).catch(() => {})
      await symlink(outside, join(folder, 'room')).catch(() => {})
      await rm(join(folder, 'room'), { force: true }).catch(() => {})
      await rename(join(folder, 'kept'), join(folder, 'room')).catch(() => {})
    }
  })()
  const read = new Set<string>()
  for (let tries = 0; tries < 1_000; tries++) {
    const handle = await openInside(folder, path).catch(() => undefined)
    if (handle === undefined) continue
    read.add((await handle.readFile()).toString())
    await handle.close()
  }
  swapping = false
  await swap
  expect([...read]).toEqual(['film'])
  expect(await readFile(secret, 'utf8')).toBe('secret')
})

test('a folder that is itself a link is accepted, as on a system whose temporary folder is one', async () => {
  const { folder } = await place()
  await symlink(folder, `${folder}-link`)
  onTestFinished(() => rm(`${folder}-link`, { force: true }))
  const path = insideOf(`${folder}-link`, 'room', '1.mp4')
  expect(await sizeInside(`${folder}-link`, path)).toBe(4)
  await removeInside(`${folder}-link`, path)
  expect(await readdir(join(folder, 'room'))).toEqual([])
})

test('folders and pipes are not files, and a pipe blocks no caller', async () => {
  const { folder } = await place()
  const [room, pipe] = [insideOf(folder, 'room'), insideOf(folder, '2.mp4')]
  execFileSync('mkfifo', [pipe])
  for (const path of [room, pipe]) {
    await expect(sizeInside(folder, path)).rejects.toThrow(PathError)
    await expect(openInside(folder, path)).rejects.toThrow(PathError)
  }
})

test('a path of another folder is refused, a missing file is missing, and a hard link is a file', async () => {
  const { folder, outside } = await place()
  await expect(refuseLinks(folder, insideOf(outside, 'seal.key'))).rejects.toThrow(PathError)
  await expect(openInside(folder, insideOf(folder, 'gone', '1.mp4'))).rejects.toMatchObject({ code: 'ENOENT' })
  await removeInside(folder, insideOf(folder, 'gone', '1.mp4'))
  await removeInside(join(folder, 'gone'), insideOf(folder, 'gone', '1.mp4'))
  await link(join(folder, 'room', '1.mp4'), join(folder, 'room', '2.mp4'))
  expect(await sizeInside(folder, insideOf(folder, 'room', '2.mp4'))).toBe(4)
})
