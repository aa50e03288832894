import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { debianFileName } from '../../packaging/build/debian.ts'
import { linuxName } from '../../packaging/build/linux.ts'
import { BootedDebian, bootPackages, canBoot } from '../support/packages/booted-debian.ts'
import { canMakeRoots, makeDebianRoot } from '../support/packages/debian-root.ts'
import { makePackages, version } from '../support/packages/make-packages.ts'

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/operate/install.md'), 'utf8')
const clientStory = resolve(import.meta.dirname, '../support/packages/client-story.ts')

/** Reads the commands of a section of the guide, block by block. */
function blocks(section: string): string[] {
  const text = guide.slice(guide.indexOf(`\n## ${section}\n`) + 1).split(/\n(?=## )/)[0] ?? ''
  return [...text.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block]) => String(block))
}

/** Runs the story of a client and an operator against the service. */
function story(debian: BootedDebian, rooms = { kept: 'new', removed: '' }): { kept: string; removed: string } {
  // Log of this start only.
  const said = 'journalctl -o cat _SYSTEMD_INVOCATION_ID=$(systemctl show roomdesk -p InvocationID --value)'
  const ready = debian.run(`until ${said} | grep ^ready; do sleep 0.1; done`).trim()
  const key = debian.run('cat /var/lib/roomdesk/console.key').trim()
  const program = [process.execPath, clientStory, rooms.kept, rooms.removed, key]
  return JSON.parse(debian.inNetwork(program, String(ready.split('\n').at(-1)))) as typeof rooms
}

// On other machines no second systemd can start.
describe.skipIf(!canMakeRoots() || !canBoot())('on a server booted with systemd, by the commands of the guide', () => {
  let work: string
  let debian: BootedDebian
  let booted: BootedDebian | undefined

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'roomdesk-booted-'))
    const root = join(work, 'debian')
    await makePackages(work)
    await makePackages(work, ['--only', 'deb', '--revision', '2'])
    makeDebianRoot(root, bootPackages)
    for (const folder of ['root', 'opt', 'usr/local/bin']) await mkdir(join(root, folder), { recursive: true })
    // Answers every question of apt with yes.
    writeFileSync(join(root, 'etc/apt/apt.conf.d/90yes'), 'APT::Get::Assume-Yes "true";\n')
    for (const file of [1, 2]
      .map((revision) => debianFileName({ version, revision }))
      .concat(`${linuxName({ version })}.tar.gz`))
      copyFileSync(join(work, file), join(root, 'root', file))
    booted = await BootedDebian.boot(root)
    debian = booted
  }, 240_000)
  afterAll(async () => {
    await booted?.[Symbol.asyncDispose]()
    await rm(work, { recursive: true, force: true })
  })

  test('the .deb is installed, confined, used, upgraded, removed and purged', () => {
    const [make, install, restart, command, upgrade, remove, ...more] = blocks('On a Debian server').map(String)
    expect([make, more.length]).toEqual([expect.stringContaining('npm run package:server'), 0])
    expect(debian.run(String(install))).toContain('active (running)')

    const main = debian.run('systemctl show roomdesk -p MainPID --value').trim()
    const status = debian.run(`cat /proc/${main}/status`)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^CapBnd:\t0{16}$/m)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(debian.run(`stat -c %U /proc/${main}`).trim()).toBe('roomdesk')

    const rooms = story(debian)
    // After a kill it restarts.
    debian.run(`kill -9 ${main}; until [ "$(systemctl show roomdesk -p NRestarts --value)" = 1 ]; do sleep 0.1; done`)
    story(debian, rooms)
    debian.run(String(restart))
    story(debian, rooms)
    debian.run(String(command))
    debian.run(String(upgrade))
    expect(debian.run('dpkg-query -W roomdesk-server')).toContain(`${version}-2`)
    story(debian, rooms)
    const [removing, purging] = String(remove).trim().split('\n')
    expect(debian.run(String(removing))).toContain('stay')
    expect(debian.run('systemctl is-active roomdesk || true; ls /var/lib/roomdesk')).toMatch(
      /^inactive\n[^]*site\.json/,
    )
    debian.run(String(purging))
    expect(debian.run('ls -d /var/lib/roomdesk /etc/roomdesk || true')).not.toMatch(/^\//m)
  })

  test('the archive is installed, used, upgraded and removed', () => {
    const [install, upgrade, remove, ...more] = blocks('On any other Linux server').map(String)
    expect(more).toEqual([])
    // The account of the previous package stays, as documented.
    debian.run('! getent passwd roomdesk || deluser --quiet roomdesk')
    debian.run(String(install))
    const rooms = story(debian)
    debian.run(String(upgrade))
    story(debian, rooms)
    debian.run(String(remove))
    expect(debian.run('ls /opt; getent passwd roomdesk || true')).toBe('')
  })
})
