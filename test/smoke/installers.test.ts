import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { temporaryFolder } from '../support/sites/store-site.ts'
import { appImageObstacle, installDeb } from './installers.ts'

test('an AppImage is started by its own runtime if the system allows it: with FUSE, and with namespaces for its sandbox', async () => {
  const system = await temporaryFolder()
  expect(appImageObstacle(system)).toContain('no FUSE')
  await mkdir(join(system, 'dev'))
  await writeFile(join(system, 'dev/fuse'), '')
  expect(appImageObstacle(system)).toBeUndefined()
  await mkdir(join(system, 'proc/sys/kernel'), { recursive: true })
  await writeFile(join(system, 'proc/sys/kernel/apparmor_restrict_unprivileged_userns'), '1\n')
  expect(appImageObstacle(system)).toContain('no sandbox')
})

/** A sudo that writes down what it is asked for, and fails where a word of it is in the pattern. */
async function fakeSudo(refused: string): Promise<() => Promise<string[]>> {
  const folder = await temporaryFolder()
  const log = join(folder, 'log')
  const sudo = join(folder, 'sudo')
  await writeFile(sudo, `#!/bin/sh\necho "$*" >> ${log}\ncase "$*" in ${refused}) exit 1;; esac\n`)
  await chmod(sudo, 0o755)
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`)
  return async () => (await readFile(log, 'utf8')).trim().split('\n')
}

test('the deb is installed by apt, and removed again', async () => {
  const asked = await fakeSudo('nothing')
  const { executable, remove } = await installDeb('/tmp/roomdesk.deb', '/tmp')
  await remove?.()
  expect(executable).toBe('/usr/bin/roomdesk')
  expect(await asked()).toEqual([
    '-n apt-get --version',
    '-n apt-get install --yes /tmp/roomdesk.deb',
    '-n apt-get purge --yes roomdesk',
  ])
})

test('without rights the deb is not installed, which is not a failure; a half installed one is removed', async () => {
  await fakeSudo('*')
  await expect(installDeb('/tmp/roomdesk.deb', '/tmp')).rejects.toMatchObject({ name: 'NotHere' })
  const asked = await fakeSudo('*install*')
  await expect(installDeb('/tmp/roomdesk.deb', '/tmp')).rejects.toThrow('Command failed')
  expect((await asked()).at(-1)).toBe('-n apt-get purge --yes roomdesk')
})
