import { renameSync } from 'node:fs'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { renameFile, renameFileSync } from '../../../../server/store/system/rename-file.ts'
import { temporaryFolder } from '../../../support/sites/store-site.ts'

/** Renames files; refuses the first times, as Windows does while another program has the file open. */
function refusing(times: number, code: string): { move: typeof rename; attempts: () => number } {
  let attempts = 0
  return {
    attempts: () => attempts,
    move: async (from, to) => {
      attempts++
      if (attempts <= times) throw Object.assign(new Error(`${code}: operation not permitted, rename`), { code })
      await rename(from, to)
    },
  }
}

async function files(): Promise<{ from: string; to: string }> {
  const folder = await temporaryFolder()
  const [from, to] = [join(folder, 'new'), join(folder, 'settings.json')]
  await writeFile(from, 'new')
  await writeFile(to, 'old')
  return { from, to }
}

test.each(['EPERM', 'EACCES', 'EBUSY'])(
  'On Windows a file that an antivirus holds (%s) is renamed a moment later',
  async (code) => {
    const { from, to } = await files()
    const { move, attempts } = refusing(3, code)
    await renameFile(from, to, { platform: 'win32', move })
    expect([attempts(), await readFile(to, 'utf8')]).toEqual([4, 'new'])
  },
)

test('A missing file is reported at once, on every system; so is a refusal on every system but Windows', async () => {
  const { from, to } = await files()
  await expect(renameFile(`${from}.none`, to, { platform: 'win32' })).rejects.toMatchObject({ code: 'ENOENT' })
  for (const platform of ['linux', 'darwin'] as const) {
    const { move, attempts } = refusing(1, 'EPERM')
    await expect(renameFile(from, to, { platform, move })).rejects.toMatchObject({ code: 'EPERM' })
    expect(attempts()).toBe(1)
  }
  expect(await readFile(to, 'utf8')).toBe('old')
})

test('A file that needs its name at once is renamed a moment later, and gives up after half a second', async () => {
  const { from, to } = await files()
  let refused = 0
  const move = (most: number) => (one: string, other: string) => {
    refused++
    if (refused <= most) throw Object.assign(new Error('EPERM: operation not permitted, rename'), { code: 'EPERM' })
    renameSync(one, other)
  }
  expect(() => renameFileSync(from, to, { platform: 'linux', move: move(1) })).toThrow('EPERM')
  expect(() => renameFileSync(from, to, { platform: 'win32', move: move(100) })).toThrow('EPERM')
  refused = 0
  renameFileSync(from, to, { platform: 'win32', move: move(3) })
  expect([refused, await readFile(to, 'utf8')]).toEqual([4, 'new'])
})
