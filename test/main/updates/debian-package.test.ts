import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { debianInstallCommand, installPackage, isManagedPackage } from '../../../main/updates/debian-package.ts'
import { verifiedRelease } from '../../support/update-publisher.ts'
import { temporaryFolder } from '../../support/sites/store-site.ts'

let bin: string
const release = await verifiedRelease('a.deb', 'release!')
beforeEach(async () => {
  bin = await temporaryFolder()
  vi.stubEnv('PATH', `${bin}:/bin:/usr/bin`)
})

/** Makes a program of the system, as a shell script. */
const program = (name: string, script: string): Promise<void> =>
  writeFile(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })

describe.skipIf(process.platform === 'win32')('on Debian', () => {
  test.each([
    ['a package, with polkit', '[ "$2" = /opt/Roomdesk/roomdesk ]', 'exit 0', true],
    ['a package, without polkit', 'exit 0', 'exit 127', false],
    ['unpacked by hand', 'exit 1', 'exit 0', false],
  ])('the app is %s', async (_, query, polkit, isManaged) => {
    await program('dpkg-query', query)
    await program('pkexec', polkit)
    expect(await isManagedPackage('/opt/Roomdesk/roomdesk')).toBe(isManaged)
  })

  test.each([
    ['the dialog is dismissed', 'exit 126', 'notAllowed', ''],
    ['nothing asks for the rights', 'exit 127', 'notAllowed', ''],
    ['apt refuses', 'echo "E: Unmet dependencies." >&2; exit 100', 'packageFailed', 'Unmet dependencies.'],
  ])('%s: the reason is told', async (_, answer, problem, detail) => {
    await program('pkexec', answer)
    await expect(installPackage('/tmp/a.deb', release)).rejects.toMatchObject({ problem, detail })
  })

  test('apt receives a copy of the announced file, out of reach of the user, and the copy is removed afterwards', async () => {
    const file = join(bin, 'a.deb')
    await writeFile(file, 'release!')
    await program('pkexec', 'exec "$@"')
    await program('apt-get', `for last; do :; done; cat "$last" >${bin}/installed; echo "$last" >${bin}/path`)
    await installPackage(file, release)
    expect(await readFile(join(bin, 'installed'), 'utf8')).toBe('release!')
    const path = (await readFile(join(bin, 'path'), 'utf8')).trim()
    expect(path).not.toContain(bin)
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('a file replaced during the password prompt never reaches apt', async () => {
    const file = join(bin, 'a.deb')
    await writeFile(file, 'release!')
    await program('pkexec', `printf 'hostile!' >${file}; exec "$@"`)
    await program('apt-get', `echo run >${bin}/installed`)
    await expect(installPackage(file, release)).rejects.toMatchObject({ problem: 'checksum', detail: 'a.deb' })
    await expect(readFile(join(bin, 'installed'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

test('the name of a folder is quoted against the shell', () => {
  expect(debianInstallCommand('/home/ann/a.deb')).toBe('sudo apt install /home/ann/a.deb')
  expect(debianInstallCommand("/home/ann o'hara/a.deb")).toBe(`sudo apt install '/home/ann o'\\''hara/a.deb'`)
})
