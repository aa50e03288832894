import { chmod, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { highWaterName } from '../../../../server/store/files/journal/high-water.ts'
import { lockFileName } from '../../../../server/store/files/folder-lock.ts'
import { StoreFileError } from '../../../../server/store/files/store-file-error.ts'
import { crashCopy, createRoom, lastSegment, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'

/** A site with files, their predecessors, a journal and a backup. */
async function site(): Promise<string> {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await createRoom(store, 'one')
  await store.backups.make()
  await createRoom(store, 'two')
  await store.backups.make()
  await createRoom(store, 'three')
  const copy = await crashCopy(folder)
  await store.close()
  return copy
}

/** Resolves to the error of the start. */
async function refusal(folder: string): Promise<string> {
  const error: unknown = await open(folder).then(
    (store) => store.close(),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(StoreFileError)
  const message = error instanceof Error ? error.message : ''
  expect(message).not.toContain('\n')
  return message
}

test('A folder in place of any file of the data folder stops the start and is named, and after the file is restored nothing is lost', async () => {
  const folder = await site()
  const segment = basename(await lastSegment(folder))
  for (const name of [
    'site.json',
    'rooms.previous.json',
    'rooms.json.tmp',
    segment,
    highWaterName,
    'losses.json',
    lockFileName,
  ]) {
    const path = join(folder, name)
    await rename(path, `${path}.kept`).catch(() => undefined)
    await mkdir(path)
    expect(await refusal(folder)).toBe(
      `${path} is not a file: move it away, and put the file back from a copy of the data folder if there is one.`,
    )
    await rm(path, { recursive: true })
    await rename(`${path}.kept`, path).catch(() => undefined)
  }
  const store = await open(folder)
  expect(Object.keys(topics(store))).toEqual(['one', 'two', 'three'])
  expect(store.status().losses).toEqual([])
  await store.close()
})

test('A file in place of the folder of backups is named', async () => {
  const folder = await site()
  await rm(join(folder, 'backups'), { recursive: true })
  await symlink('site.json', join(folder, 'backups'))
  expect(await refusal(folder)).toBe(`${join(folder, 'backups')} is not a folder: move it away, and start again.`)
})

test('A dangling symbolic link is named with the error of the system', async () => {
  const folder = await site()
  const segment = await lastSegment(folder)
  await rm(segment)
  await symlink(basename(segment), segment)
  expect(await refusal(folder)).toMatch(
    new RegExp(
      `^${segment} cannot be read \\(ELOOP: .*\\): give the user that runs Roomdesk the right to read it, or, when the disk is at fault, `,
    ),
  )
})

test.skipIf(process.platform !== 'linux')(
  'A disk error while reading a file is reported with the name of that file',
  async () => {
    for (const name of ['rooms.json', 'journal']) {
      const folder = await site()
      const path = name === 'journal' ? await lastSegment(folder) : join(folder, name)
      await rm(path)
      // Address 0 of a process is never mapped: reading it is an input/output error.
      await symlink('/proc/self/mem', path)
      const before = await readdir(folder)
      expect(await refusal(folder)).toContain(`${path} cannot be read (EIO`)
      expect(await readdir(folder)).toEqual(
        expect.arrayContaining(before.filter((file) => !file.startsWith(lockFileName))),
      )
    }
  },
)

test.skipIf(process.getuid?.() === 0)('A file of another user is named', async () => {
  const folder = await site()
  const segment = await lastSegment(folder)
  await chmod(segment, 0o000)
  expect(await refusal(folder)).toContain(`${segment} cannot be read (EACCES`)
})
