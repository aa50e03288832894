import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { debianFileName } from '../../packaging/build/debian.ts'
import { linuxName } from '../../packaging/build/linux.ts'
import { canMakeRoots, inRoot, makeDebianRoot } from '../support/packages/debian-root.ts'
import { IsolatedController } from '../support/packages/installed-service.ts'
import { makePackages, version } from '../support/packages/make-packages.ts'

const debianFile = (revision: number): string => debianFileName({ version, revision })
const archive = linuxName({ version })

// On other systems no root folder can be created, entered and removed without a trace.
describe.skipIf(!canMakeRoots())('the packages of the server', () => {
  let work: string

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'roomdesk-packages-'))
    await makePackages(work)
  }, 120_000)
  afterAll(() => rm(work, { recursive: true, force: true }))

  test('the archive runs in an empty folder, with an empty PATH and without a network', async () => {
    const folder = join(work, 'empty')
    await mkdir(folder)
    execFileSync('tar', ['-xzf', join(work, `${archive}.tar.gz`), '-C', folder])
    expect(readdirSync(folder)).toEqual([archive])
    const data = join(work, 'site')
    const start = 'ip link set lo up && unset PATH && exec "$0" "$@"'
    const unshare = ['-n', 'sh', '-c', start, join(folder, archive, 'roomdesk'), '--data-dir', data]
    await using controller = await IsolatedController.start(unshare, { PATH: process.env.PATH })
    const rooms = controller.clientStory(readFileSync(join(data, 'console.key'), 'utf8').trim())
    expect(rooms.kept).toMatch(/^\d+$/)
    expect(await controller.stop()).toBe(0)
  }, 60_000)

  test('the .deb is installed, runs, is upgraded with its data, removed and purged', async () => {
    const debian = join(work, 'debian')
    makeDebianRoot(debian)
    const dpkg = (...flags: string[]): string => inRoot(debian, ['dpkg', ...flags])
    const at = (path: string): string => join(debian, path)
    const bring = async (revision: number): Promise<string> => {
      if (revision > 1) await makePackages(work, ['--only', 'deb', '--revision', String(revision)])
      execFileSync('mv', [join(work, debianFile(revision)), at('tmp')])
      return `/tmp/${debianFile(revision)}`
    }
    const owner = (path: string): string => inRoot(debian, ['stat', '-c', '%U:%G %a', path]).trim()

    // Installed: nothing runs without systemd, and everything is ready for it.
    dpkg('--install', await bring(1))
    expect(dpkg('--audit')).toBe('')
    expect(dpkg('--verify', 'roomdesk-server')).toBe('')
    expect(owner('/var/lib/roomdesk')).toBe('roomdesk:roomdesk 700')
    expect(owner('/etc/roomdesk/roomdesk.env')).toBe('root:root 640')
    const enabled = 'etc/systemd/system/multi-user.target.wants/roomdesk.service'
    expect(inRoot(debian, ['readlink', `/${enabled}`]).trim()).toMatch(/\/lib\/systemd\/system\/roomdesk\.service$/)
    expect(inRoot(debian, ['roomdesk', '--help'])).toContain('--data-dir')

    // It runs like in the unit, with the options set by the admin.
    const optionsFile = at('etc/roomdesk/roomdesk.env')
    const edited = readFileSync(optionsFile, 'utf8').replace('#ROOMDESK_MEDIA_PORT=7080', 'ROOMDESK_MEDIA_PORT=17080')
    writeFileSync(optionsFile, edited)
    let rooms: { kept: string; removed: string }
    {
      await using controller = await IsolatedController.startUnit(debian)
      expect(controller.ready).toContain('"media":"http://127.0.0.1:17080"')
      rooms = controller.clientStory(readFileSync(at('var/lib/roomdesk/console.key'), 'utf8').trim())
      expect(await controller.stop()).toBe(0)
    }

    // The command works on the same site, and leaves only files of the service's user.
    expect(inRoot(debian, ['roomdesk', '--verify-log'])).toMatch(/^[^]+$/)
    expect(inRoot(debian, ['find', '/var/lib/roomdesk', '!', '-user', 'roomdesk'])).toBe('')

    // Upgraded: options, site and the enabled state stay.
    dpkg('--install', await bring(2))
    expect(inRoot(debian, ['dpkg-query', '-W', '-f', '${Version} ${Status}', 'roomdesk-server'])).toBe(
      `${version}-2 install ok installed`,
    )
    expect(readFileSync(optionsFile, 'utf8')).toBe(edited)
    {
      await using controller = await IsolatedController.startUnit(debian)
      expect(controller.ready).toContain('"media":"http://127.0.0.1:17080"')
      controller.clientStory(readFileSync(at('var/lib/roomdesk/console.key'), 'utf8').trim(), rooms)
    }

    // Removed: site and options stay, and a message says so.
    expect(dpkg('--remove', 'roomdesk-server')).toMatch(/\/var\/lib\/roomdesk .*stay/)
    expect(existsSync(at('usr/lib/roomdesk'))).toBe(false)
    expect(readFileSync(optionsFile, 'utf8')).toBe(edited)
    expect(existsSync(at('var/lib/roomdesk/site.json'))).toBe(true)

    // Purged: both are deleted; foreign files stay, and so does the account.
    writeFileSync(at('etc/roomdesk/site.json'), '{}')
    expect(dpkg('--purge', 'roomdesk-server')).toContain('deleting the site in /var/lib/roomdesk')
    expect(existsSync(at('var/lib/roomdesk'))).toBe(false)
    expect(readdirSync(at('etc/roomdesk'))).toEqual(['site.json'])
    expect(existsSync(at(enabled))).toBe(false)
    expect(readdirSync(at('var/lib/systemd')).flatMap((name) => readdirSync(at(`var/lib/systemd/${name}`)))).toEqual([])
    expect(inRoot(debian, ['getent', 'passwd', 'roomdesk'])).toContain('/usr/sbin/nologin')
    expect(inRoot(debian, ['dpkg', '-l']).includes('roomdesk')).toBe(false)
  }, 120_000)
})
