import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lockFileName, lockFolder, StoreLockedError } from '../../../../server/store/files/folder-lock.ts'
import { createRoom, open, temporaryFolder, topics } from '../site.ts'

/** Another process that takes the lock and waits. */
async function owner(folder: string): Promise<{ pid: number; kill: () => Promise<void> }> {
  const source = `import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, '../../../../server/store/files/folder-lock.ts'))}
    await lockFolder(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

test('A folder that another process has open is refused with its pid; when that was killed, the lock is taken over', async () => {
  const folder = await temporaryFolder()
  const other = await owner(folder)
  const refused = open(folder)
  await expect(refused).rejects.toBeInstanceOf(StoreLockedError)
  await expect(refused).rejects.toThrow(`process ${other.pid}`)
  expect(await readdir(folder)).toEqual([lockFileName])
  await other.kill()
  const store = await open(folder)
  await createRoom(store, '1')
  await store.close()
  expect(await readdir(folder)).not.toContain(lockFileName)
})

test('The same process cannot open a folder twice either', async () => {
  const folder = await temporaryFolder()
  const store = await open(folder)
  await expect(open(folder)).rejects.toBeInstanceOf(StoreLockedError)
  await createRoom(store, '1')
  await store.close()
  const again = await open(folder)
  expect(topics(again)).toHaveProperty('1')
  await again.close()
})

test('A pid that now belongs to another process, another boot, or nonsense in the file do not lock', async () => {
  const folder = await temporaryFolder()
  const unlock = await lockFolder(folder)
  const text = await readFile(join(folder, lockFileName), 'utf8')
  await unlock()
  const stale = [
    text.replace(/"started":"\d+"/, '"started":"1"'),
    text.replace(/"boot":"[^"]+"/, '"boot":"another"'),
    '',
    '{"pid":-1}',
    '{"pid":999999999}',
    'null',
  ]
  for (const content of process.platform === 'linux' ? stale : stale.slice(2)) {
    await writeFile(join(folder, lockFileName), content)
    const release = await lockFolder(folder)
    await release()
  }
  expect(await readdir(folder)).toEqual([])
})

test('Of many who find a stale lock one gets it', async () => {
  // The slow and the quick meet in another order each time.
  for (let round = 0; round < 30; round++) {
    const folder = await temporaryFolder()
    await writeFile(join(folder, lockFileName), '{"pid":999999999}')
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await readdir(folder)).toEqual([lockFileName])
  }
})
