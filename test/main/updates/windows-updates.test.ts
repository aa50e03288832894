import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { runInstaller } from '../../../main/updates/install-update.ts'
import { asksAdministrator } from '../../../main/updates/per-machine.ts'
import { proveSignature, type Signature } from '../../../main/updates/signed-description.ts'
import type { Updates, UpdatesOptions } from '../../../main/updates/updates.ts'
import { description, minutes, UpdatePlace } from '../../support/update-place.ts'

const place = new UpdatePlace()

beforeEach(() => place.open())

// The programs of Windows are scripts here, found by their whole names.
describe.skipIf(process.platform === 'win32')('an installer for Windows', () => {
  const setup = 'Roomdesk-0.3.0.exe'
  /** The updates of an app for Windows. @param script that the installer is */
  const onWindows = async (script: string, change: Partial<UpdatesOptions> = {}, asks = false): Promise<Updates> => {
    const powershell = join(place.work, 'C:\\Windows\\System32\\WindowsPowerShell\\v1.0\\powershell.exe')
    // Windows PowerShell does not load the modules of PowerShell 7, from which the app may be started.
    const answer = `[ -z "$PSModulePath" ] && echo '{"status":"NotSigned","signer":null}'`
    await writeFile(powershell, `#!/bin/sh\n${answer}\n`, { mode: 0o755 })
    vi.stubEnv('PSModulePath', 'C:\\Program Files\\PowerShell\\7\\Modules')
    vi.stubEnv('PATH', `${place.work}:/usr/bin:/bin`)
    vi.stubEnv('SystemRoot', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const installer = Buffer.from(`#!/bin/sh\necho run >> '${place.work}/runs'\n${script}\n`)
    place.answers['/updates/latest.yml'] = description('0.3.0', installer, setup)
    place.answers[`/updates/${setup}`] = installer
    const machine = {
      platform: 'win32',
      arch: 'x64',
      isPackaged: true,
      program: '/nowhere',
      appImage: undefined,
      isManagedPackage: async () => false,
      asksAdministrator: async () => asks,
    } as const
    const updates = await place.checked(place.address, { machine, ...change })
    // Windows runs a file without such a mode.
    await chmod(updates.view().file, 0o755)
    return updates
  }
  const runs = async (): Promise<number> =>
    (await readFile(join(place.work, 'runs'), 'utf8').catch(() => '')).split('\n').length - 1

  test('that ends while the app keeps running has failed: people in rooms are notified, and the operator can retry', async () => {
    place.occupied = true
    const updates = await onWindows('exit 5')
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
    await updates.installWithWarning()
    await minutes(2.1)
    vi.useRealTimers()
    await expect.poll(() => place.warnings).toEqual([120_000, 'called off'])
    expect(updates.view()).toMatchObject({
      ...{ state: 'idle', installs_at: 0, release: { version: '0.3.0' } },
      problem: { name: 'installerEnded', detail: '5' },
    })
    // Nothing was installed: the next start has nothing to tell.
    expect(place.start().view().problem).toBeNull()
    expect(await updates.install()).toBe(false)
    expect(await runs()).toBe(2)
  })

  test('that fails after it has closed the app is reported by the next start', async () => {
    const updates = await onWindows('exit 1', { isEnding: () => true })
    expect(await updates.install()).toBe(true)
    expect(updates.view()).toMatchObject({ state: 'installing', problem: null })
    expect(place.start().view().problem).toMatchObject({ name: 'notInstalled' })
  })

  test('that neither ends nor closes the app is given up after a time limit', async () => {
    await writeFile(join(place.work, setup), '#!/bin/sh\nexec sleep 3\n', { mode: 0o755 })
    await expect(runInstaller(join(place.work, setup), 100)).rejects.toMatchObject({ problem: 'installerHangs' })
  })

  test('for which Windows asks for an administrator never starts automatically', async () => {
    place.occupied = false
    const updates = await onWindows('exit 0', {}, true)
    expect(updates.view().way).toBe('elevated')
    updates.set({ source: place.address, install: 'quiet', hour: null })
    vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout', 'Date'] })
    updates.start()
    await minutes(30)
    vi.useRealTimers()
    expect(await runs()).toBe(0)
    await updates.install()
    expect(await runs()).toBe(1)
  })

  test.each([
    ['is in the registry', undefined, true],
    ['is not', 1, false],
    ['cannot be told', 'ENOENT', true],
  ])('asks an administrator if an installation for all users %s', async (_case, code, asks) => {
    const told: unknown[] = []
    const answer = async (...call: unknown[]): Promise<void> => {
      told.push(call)
      if (code !== undefined) throw Object.assign(new Error('reg.exe'), { code })
    }
    expect(await asksAdministrator(answer, {})).toBe(asks)
    const key = 'HKLM\\Software\\4da761ad-57a4-5b68-bee6-bfc02f47c2be'
    const args = ['query', key, '/v', 'InstallLocation', '/reg:64']
    expect(told).toEqual([['C:\\Windows\\System32\\reg.exe', args]])
  })
})

describe('on Windows an installer is verified by its signature', () => {
  const signed = (status: string, signer: string | null): Signature => ({ status, signer })
  const prove = (own: Signature, installer: Signature): Promise<void> =>
    proveSignature('setup.exe', 'Roomdesk.exe', (path) => Promise.resolve(path === 'Roomdesk.exe' ? own : installer))

  test('by the same signer as that of the running app', async () => {
    await prove(signed('Valid', 'CN=Maker'), signed('Valid', 'CN=Maker'))
  })

  test.each([
    ['by another', signed('Valid', 'CN=Maker'), signed('Valid', 'CN=Other')],
    ['by nobody', signed('Valid', 'CN=Maker'), signed('NotSigned', null)],
    ['before it was changed', signed('Valid', 'CN=Maker'), signed('HashMismatch', 'CN=Maker')],
    ['as the app, whose own signature is broken', signed('HashMismatch', 'CN=Maker'), signed('Valid', 'CN=Maker')],
  ])('signed %s it is refused', async (_case, own, installer) => {
    await expect(prove(own, installer)).rejects.toMatchObject({ problem: 'signature' })
  })

  test('an unsigned app relies on the key of its publisher alone', async () => {
    await prove(signed('NotSigned', null), signed('NotSigned', null))
  })
})
