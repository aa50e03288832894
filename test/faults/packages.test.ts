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
/** Tells whether an optional tool is installed. */
const has = (program: string): boolean => spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

describe.skipIf(!canMakeRoots())("the server's .deb, according to Debian's own tools", () => {
  let work: string
  let unpacked: string

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'roomdesk-packages-'))
    unpacked = join(work, 'unpacked')
    await makePackages(work, ['--only', 'deb'])
    execFileSync('dpkg-deb', ['-x', join(work, name), unpacked])
  }, 120_000)
  afterAll(() => rm(work, { recursive: true, force: true }))

  test('the same source always makes the same bytes, for any builder and folder', async () => {
    const again = join(work, 'again')
    await makePackages(again, ['--only', 'deb'], { TZ: 'Asia/Shanghai', LC_ALL: 'zh_CN.UTF-8' })
    expect(sum(join(again, name))).toBe(sum(join(work, name)))
  })

  test.skipIf(!has('objdump'))('it depends on the libraries of its binaries, in the required versions', () => {
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
  })

  test.skipIf(!has('systemd-analyze'))('systemd accepts every line of the unit, and rates its exposure low', () => {
    const unit = 'usr/lib/systemd/system/roomdesk.service'
    const verify = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', join(unpacked, unit)], {
      encoding: 'utf8',
    })
    // The only message: the program is not installed on this machine.
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
    'lintian finds no errors and no warnings',
    () => {
      const found = spawnSync('lintian', ['--allow-root', '--no-cfg', join(work, name)], { encoding: 'utf8' })
      expect(found.stdout.split('\n').filter((line) => /^[EW]:/.test(line))).toEqual([])
      expect(existsSync(join(unpacked, 'usr/share/lintian/overrides/roomdesk-server'))).toBe(true)
    },
    600_000,
  )
})
