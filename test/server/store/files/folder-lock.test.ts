import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  lockedFileName,
  lockFileName,
  lockFolder,
  StoreLockedError,
} from '../../../../server/store/files/folder-lock.ts'
import { createRoom, open, temporaryFolder, topics } from '../../../support/sites/store-site.ts'

/** Runs a program as process 1 that sees none of our processes, as in a container. */
const inContainer = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

/** Starts another process that takes the lock and waits. */
async function owner(
  folder: string,
  within: readonly string[] = [],
): Promise<{ pid: number; kill: () => Promise<void> }> {
  const source = `import { lockFolder } from ${JSON.stringify(join(import.meta.dirname, '../../../../server/store/files/folder-lock.ts'))}
    await lockFolder(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000)`
  const [program, ...parameters] = [...within, process.execPath, '--input-type=module', '-e', source]
  const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(() => Promise.reject(new Error('it ended')))
  await Promise.race([once(child.stdout, 'data'), ended])
  ended.catch(() => undefined)
  return {
    pid: child.pid ?? 0,
    kill: async () => {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

test('A folder open in another process is refused with its pid; after that process was killed, the lock is taken over', async () => {
  const folder = await temporaryFolder()
  const other = await owner(folder)
  const refused = open(folder)
  await expect(refused).rejects.toBeInstanceOf(StoreLockedError)
  await expect(refused).rejects.toThrow(`process ${other.pid}`)
  expect((await readdir(folder)).sort()).toEqual([lockFileName, lockedFileName])
  await other.kill()
  const store = await open(folder)
  await createRoom(store, '1')
  await store.close()
  expect(await readdir(folder)).not.toContain(lockFileName)
})

test('A container cannot open the folder of another, although neither sees the processes of the other', async (context) => {
  const [program = '', ...parameters] = inContainer
  if (spawnSync(program, [...parameters, 'true']).status !== 0)
    context.skip('no PID namespaces here: needs root on Linux')
  const folder = await temporaryFolder()
  const other = await owner(folder, inContainer)
  await expect(open(folder)).rejects.toBeInstanceOf(StoreLockedError)
  await other.kill()
  const since = performance.now()
  const store = await open(folder)
  expect(performance.now() - since).toBeLessThan(1_000)
  await expect(owner(folder, inContainer)).rejects.toThrow('ended')
  await store.close()
})

test('The content of the lock file does not matter', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, lockedFileName), 'not a database'.repeat(100))
  const unlock = await lockFolder(folder)
  await expect(lockFolder(folder)).rejects.toBeInstanceOf(StoreLockedError)
  await unlock()
})

test('A program replaced by another in the same process leaves no lock behind', async () => {
  const folder = await temporaryFolder()
  const unlock = await lockFolder(folder)
  const text = await readFile(join(folder, lockFileName), 'utf8')
  await unlock()
  // State after execve: the kernel's lock is gone, pid and start time are the same.
  await writeFile(join(folder, lockFileName), text)
  const again = await lockFolder(folder)
  await again()
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

test('A pid of another process or another boot, or garbage in the file, does not lock', async () => {
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
  expect(await readdir(folder)).toEqual([lockedFileName])
})

test('The holder of the kernel lock owns the folder, whichever running process the file names', async () => {
  const folder = await temporaryFolder()
  // After a hard kill on Windows or macOS, which do not say when a process started, the id may belong to another program by now.
  await writeFile(join(folder, lockFileName), JSON.stringify({ pid: process.ppid }))
  const unlock = await lockFolder(folder)
  expect(JSON.parse(await readFile(join(folder, lockFileName), 'utf8'))).toMatchObject({ pid: process.pid })
  await unlock()
  expect(await readdir(folder)).toEqual([lockedFileName])
})

test('Of many processes that find a stale lock one gets it', async () => {
  // Each round has another order of slow and fast ones.
  for (let round = 0; round < 30; round++) {
    const folder = await temporaryFolder()
    await writeFile(join(folder, lockFileName), '{"pid":999999999}')
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockFolder(folder)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect((await readdir(folder)).sort()).toEqual([lockFileName, lockedFileName])
  }
})
