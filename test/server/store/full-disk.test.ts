import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createRoom, crashCopy, open, temporaryFolder, topics } from '../../support/sites/store-site.ts'

/** Mounts a disk of one megabyte, if permitted. */
async function smallDisk(): Promise<string | undefined> {
  const folder = join(await temporaryFolder(), 'disk')
  await mkdir(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=700', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  onTestFinished(() => void execFileSync('umount', ['-l', folder]))
  return folder
}

test('A full disk refuses single changes, keeps everything else, and recovers without help', async ({ skip }) => {
  const folder = await smallDisk()
  if (folder === undefined) return skip('not allowed to mount a small disk')
  const store = await open(folder)
  await createRoom(store, 'before')
  await writeFile(join(folder, 'filler'), Buffer.alloc(1024 * 1024)).catch(() => undefined)
  let stored = 0
  let refusal: unknown
  for (; stored < 2_000 && refusal === undefined; stored++) {
    await createRoom(store, `full-${stored}`, 'x'.repeat(149)).catch((error: unknown) => {
      refusal = error
    })
  }
  const refused = `full-${stored - 1}`
  expect(refusal).toMatchObject({ code: 'storage' })
  expect(refusal).toHaveProperty('reason', expect.stringContaining('ENOSPC'))
  expect(store.get('rooms', refused)).toBeUndefined()
  expect(store.status().healthy).toBe(false)
  expect(store.status().lastError).toContain('ENOSPC')
  expect(Date.now() - store.status().refusesSince).toBeLessThan(60_000)
  await expect(createRoom(store, 'still full')).rejects.toMatchObject({ code: 'storage' })
  await expect(store.backups.make()).rejects.toMatchObject({ code: 'storage' })
  const crashed = await open(await crashCopyWithout(folder, 'filler'))
  expect(topics(crashed)).toEqual(topics(store))
  await crashed.close()

  await rm(join(folder, 'filler'))
  await createRoom(store, 'after')
  await store.backups.make()
  expect(store.status()).toMatchObject({ healthy: true, refusesSince: 0 })
  const codes = store.status().notices.map(({ code }) => code)
  expect(codes.filter((code) => code === 'diskRefused').length).toBeLessThanOrEqual(2)
  expect(codes.at(-1)).toBe('diskBack')
  const rooms = topics(store)
  await store.close()
  const again = await open(folder)
  expect(topics(again)).toEqual(rooms)
  expect(Object.keys(rooms)).not.toContain(refused)
  expect(again.status().notices).toEqual([])
  await again.close()
})

test('A disk with free space again is noticed without any change', async ({ skip }) => {
  const folder = await smallDisk()
  if (folder === undefined) return skip('not allowed to mount a small disk')
  const store = await open(folder)
  await writeFile(join(folder, 'filler'), Buffer.alloc(1024 * 1024)).catch(() => undefined)
  await expect(createRoom(store, '1')).rejects.toMatchObject({ code: 'storage' })
  const back = new Promise((resolve) => store.notices.listen(({ code }) => code === 'diskBack' && resolve(undefined)))
  await rm(join(folder, 'filler'))
  await back
  expect(store.status().healthy).toBe(true)
  await store.close()
})

test('A limit on the size of files refuses partial writes, and none of them is there after the restart', async () => {
  const folder = await temporaryFolder()
  const child = spawn(
    'bash',
    ['-c', `ulimit -f 64; exec "${process.execPath}" "${join(import.meta.dirname, 'limited-writer.ts')}" "${folder}"`],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString()
  })
  await once(child, 'close')
  const { acknowledged, refused } = JSON.parse(output) as { acknowledged: string[]; refused: string[] }
  expect(refused.length).toBeGreaterThan(0)
  const store = await open(folder)
  expect(Object.keys(topics(store)).sort()).toEqual(acknowledged.sort())
  await store.close()
})

async function crashCopyWithout(folder: string, file: string): Promise<string> {
  const copy = await crashCopy(folder)
  await rm(join(copy, file), { force: true })
  return copy
}
