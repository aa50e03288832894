import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { debianFileName } from '../../packaging/build/debian.ts'
import { canMakeRoots } from '../support/packages/debian-root.ts'
import { makePackages, version } from '../support/packages/make-packages.ts'

const name = debianFileName({ version, revision: 1 })
const sum = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')
/** Whether a tool that not every Debian has is here. */
const has = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

describe.skipIf(!canMakeRoots())("the server's .deb, as Debian's own tools see it", () => {
  let work: string
  let unpacked: string

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'roomdesk-packages-'))
    unpacked = join(work, 'unpacked')
    await makePackages(work, ['--only', 'deb'])
    execFileSync('dpkg-deb', ['-x', join(work, name), unpacked])
  }, 120_000)
  afterAll(() => rm(work, { recursive: true, force: true }))

  test('one source always makes the same bytes, whoever makes them and where', async () => {
    const again = join(work, 'again')
    await makePackages(again, ['--only', 'deb'], { TZ: 'Asia/Shanghai', LC_ALL: 'zh_CN.UTF-8' })
    expect(sum(join(again, name))).toBe(sum(join(work, name)))
  })

  test.skipIf(!has('objdump'))(
    'it depends on the libraries that its binaries ask for, in the versions that have what they ask',
    () => {
      const binaries = ['bin/node', 'node_modules/@node-datachannel/linux-x64-gnu/node_datachannel.node']
      const asked = binaries
        .map((binary) =>
          execFileSync('objdump', ['-p', join(unpacked, 'usr/lib/roomdesk', binary)], { encoding: 'utf8' }),
        )
        .join('')
      const newest = (prefix: string): string | undefined =>
        [...asked.matchAll(new RegExp(`\\b${prefix}_([\\d.]+)$`, 'gm'))]
          .map(([, version]) => String(version))
          .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
          .at(-1)
      // GCC 7 brought CXXABI_1.3.11, and GCC 5 GLIBCXX_3.4.21: the ABI policy in the manual of libstdc++.
      expect(newest('CXXABI')).toBe('1.3.11')
      expect(newest('GLIBCXX')).toBe('3.4.21')
      const needs = [`libc6 (>= ${newest('GLIBC')})`, `libgcc-s1 (>= ${newest('GCC')})`, 'libstdc++6 (>= 7)']
      const depends = execFileSync('dpkg-deb', ['-f', join(work, name), 'Depends'], { encoding: 'utf8' })
      expect(depends.trim().split(', ')).toEqual(['adduser', ...needs])
    },
  )

  test.skipIf(!has('systemd-analyze'))('systemd understands every line of the unit, and finds little to attack', () => {
    const unit = 'usr/lib/systemd/system/roomdesk.service'
    const verify = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', join(unpacked, unit)], {
      encoding: 'utf8',
    })
    // That the program is not at its place on this machine is the one thing to say.
    const said = verify.stderr
      .split('\n')
      .filter((line) => line.includes('roomdesk') && !line.includes('is not executable'))
    expect(said).toEqual([])
    const security = ['security', '--offline=true', '--threshold=20', join(unpacked, unit)]
    const rated = spawnSync('systemd-analyze', security, { encoding: 'utf8' })
    expect(rated.stdout).toMatch(/Overall exposure level for roomdesk\.service: 1\.\d OK/)
    expect(rated.status).toBe(0)
  })

  test.skipIf(!has('lintian'))(
    'lintian finds neither an error nor something to warn of',
    () => {
      const found = spawnSync('lintian', ['--allow-root', '--no-cfg', join(work, name)], { encoding: 'utf8' })
      expect(found.stdout.split('\n').filter((line) => /^[EW]:/.test(line))).toEqual([])
      expect(existsSync(join(unpacked, 'usr/share/lintian/overrides/roomdesk-server'))).toBe(true)
    },
    600_000,
  )
})
