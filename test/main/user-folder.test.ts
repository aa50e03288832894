import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { HalfMovedError } from '../../main/move-folder.ts'
import { findUserFolder, type UserFolderFacts } from '../../main/user-folder.ts'
import { temporaryFolder } from '../support/sites/store-site.ts'

/** A user of Windows whose app kept its files in the roaming folder. */
async function roamingUser(...names: readonly string[]) {
  const folder = await temporaryFolder()
  const [roaming, local] = [join(folder, 'Roaming/Roomdesk'), join(folder, 'Local/Roomdesk')]
  await add(roaming, ...names)
  const find = (more: Partial<UserFolderFacts> = {}) =>
    findUserFolder({
      ...{ argv: ['Roomdesk.exe'], mode: 'desktop', roaming },
      environment: { LOCALAPPDATA: join(folder, 'Local') },
      ...more,
    })
  return { roaming, local, find }
}

async function add(folder: string, ...names: readonly string[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const name of names) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'content'), name)
  }
}

const listed = async (folder: string): Promise<string[]> => (await readdir(folder).catch(() => [])).sort()

/** Windows renames no folder in which a file is open. */
const whileOpen =
  (...open: readonly string[]) =>
  async (from: string, to: string): Promise<void> => {
    if (open.some((path) => from.endsWith(path))) throw new Error(`EPERM: operation not permitted, rename '${from}'`)
    await rename(from, to)
  }

test('a new user of Windows begins in the local folder', async () => {
  const { roaming, local, find } = await roamingUser()
  expect(await find()).toEqual({ path: local })
  expect(await find({ mode: 'quit' })).toEqual({ path: local })
  expect(await listed(roaming)).toEqual([])
})

test('a folder that cannot be used is reported as an error of the start', async () => {
  const { local, find } = await roamingUser('site')
  await mkdir(dirname(local), { recursive: true })
  await writeFile(local, 'a file in its place')
  expect(await find()).toMatchObject({ path: undefined, error: { code: 'EEXIST' } })
})

test('the files of the app join a headless site of the same user, and both sites stay unchanged', async () => {
  const { roaming, local, find } = await roamingUser('Local State', 'logs', 'site')
  await add(local, 'journal', 'recordings')
  expect(await find()).toMatchObject({ path: local, notice: expect.stringContaining('were moved from') })
  expect(await listed(local)).toEqual(['Local State', 'journal', 'logs', 'recordings', 'site'])
  expect(existsSync(roaming)).toBe(false)
  expect(await find()).toEqual({ path: local })
})

test.each([
  ['a file is open', 'EPERM'],
  ['the folders are on different volumes', 'EXDEV'],
])('nothing is moved where %s: the log says so, and the app goes on in the older folder', async (_case, code) => {
  const { roaming, local, find } = await roamingUser('Local State', 'logs', 'site')
  const refuse = async (from: string, to: string): Promise<void> => {
    if (from.endsWith('site')) throw new Error(`${code}: rename`)
    await rename(from, to)
  }
  const { path, notice } = await find({ rename: refuse })
  expect(path).toBe(roaming)
  expect(notice).toMatch(new RegExp(`stay in .*tried again at the next start: ${code}`))
  expect(await listed(roaming)).toEqual(['Local State', 'logs', 'site'])
  expect(await listed(local)).toEqual([])
  // The next start has more luck.
  expect(await find()).toMatchObject({ path: local })
})

test('an interrupted move continues at the next start, whatever its mode', async () => {
  for (const more of [{}, { argv: ['Roomdesk.exe', '--headless', '--data-dir=D:\\site'] }]) {
    const { roaming, local, find } = await roamingUser('Local State', 'logs', 'site')
    // The power fails after one name.
    await add(local)
    await writeFile(join(local, 'moving.json'), JSON.stringify(['Local State', 'logs', 'site']))
    await rename(join(roaming, 'Local State'), join(local, 'Local State'))
    expect(await find({ mode: 'quit' })).toEqual({ path: local })
    expect(await find(more)).toMatchObject({ path: local })
    expect(await listed(local)).toEqual(['Local State', 'logs', 'site'])
  }
})

test('an interrupted move that cannot continue is undone', async () => {
  const { roaming, local, find } = await roamingUser('logs', 'site')
  await add(local, 'Local State')
  await writeFile(join(local, 'moving.json'), JSON.stringify(['Local State', 'logs', 'site']))
  expect(await find({ rename: whileOpen('Roaming/Roomdesk/site') })).toMatchObject({ path: roaming })
  expect(await listed(roaming)).toEqual(['Local State', 'logs', 'site'])
  expect(await listed(local)).toEqual([])
})

test('the app does not start with an empty site while half of the files can be moved in neither direction', async () => {
  const { local, find } = await roamingUser('logs', 'site')
  await add(local, 'Local State')
  await writeFile(join(local, 'moving.json'), JSON.stringify(['Local State', 'logs', 'site']))
  const { error } = await find({ rename: whileOpen('Roaming/Roomdesk/site', 'Local/Roomdesk/Local State') })
  expect(error).toBeInstanceOf(HalfMovedError)
  // Programs were closed.
  expect(await find()).toMatchObject({ path: local })
})

test('if both folders hold an app, the local one is used, and the log names the other', async () => {
  const { roaming, local, find } = await roamingUser('Local State', 'site')
  await add(local, 'Local State', 'site')
  expect(await find()).toMatchObject({ path: local, notice: expect.stringContaining(`${roaming} are not used`) })
  expect(await listed(roaming)).toEqual(['Local State', 'site'])
})

test('a name that exists in both folders is never overwritten', async () => {
  const { roaming, local, find } = await roamingUser('Local State', 'site')
  await add(local, 'site')
  expect(await find()).toMatchObject({ path: roaming, notice: expect.stringContaining('site is in both folders') })
})

test.each([
  ['a data folder was named', { argv: ['Roomdesk.exe', '--data-dir', 'D:\\site'] }],
  ['the environment names one', { environment: { ROOMDESK_DATA_DIR: 'D:\\site' } }],
  ['the running app is to end', { mode: 'quit', argv: ['Roomdesk.exe', '--quit'] }],
  ['a command only prints something', { mode: 'headless', argv: ['Roomdesk.exe', '--version'] }],
] as const)('nothing is moved where %s', async (_case, more) => {
  const { roaming, local, find } = await roamingUser('Local State', 'site')
  const environment = { LOCALAPPDATA: join(local, '..'), ...('environment' in more && more.environment) }
  expect(await find({ ...more, environment })).toEqual({ path: roaming })
  expect(await listed(roaming)).toEqual(['Local State', 'site'])
})

test('two simultaneous starts move the files once', async () => {
  const { local, find } = await roamingUser('Local State', 'logs', 'site')
  const found = await Promise.all([find(), find()])
  expect(found.map(({ path }) => path)).toEqual([local, local])
  expect(found.filter(({ notice }) => notice !== undefined)).toHaveLength(1)
  expect(await listed(local)).toEqual(['Local State', 'logs', 'site'])
})

test('while an app runs in the older folder, a second start finds it there', async () => {
  const { roaming, find } = await roamingUser('Local State', 'site')
  // Windows removes no open file: this one is a folder, which is not removed either.
  await add(roaming, 'lockfile')
  expect(await find()).toEqual({ path: roaming })
  expect(await listed(roaming)).toEqual(['Local State', 'lockfile', 'site'])
})
