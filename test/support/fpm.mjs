// Makes a .deb from the command line of fpm, as electron-builder calls it, by dpkg-deb. Records the arguments and scripts: node fpm.mjs FOLDER ARGUMENT…
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const [seen = '', ...args] = process.argv.slice(2)
writeFileSync(join(seen, 'fpm'), args.map((argument) => `${argument}\0`).join(''))

/** Values of the flags, and what goes where. */
const given = new Map()
const placed = []
const withoutValue = new Set(['--force'])
for (let at = 0; at < args.length; at++) {
  const argument = args[at]
  if (withoutValue.has(argument)) continue
  if (argument.startsWith('-')) given.set(argument, [...(given.get(argument) ?? []), args[++at]])
  else placed.push(argument)
}
const one = (flag) => given.get(flag)?.[0] ?? ''

const stage = mkdtempSync(join(tmpdir(), 'roomdesk-deb-'))
try {
  for (const pair of placed) {
    const cut = pair.lastIndexOf('=')
    const [from, to] = [pair.slice(0, cut), join(stage, pair.slice(cut + 1))]
    mkdirSync(dirname(to), { recursive: true })
    cpSync(from, to, { recursive: true, verbatimSymlinks: true })
    if (to.endsWith('.desktop')) copyFileSync(from, join(seen, 'deb.desktop'))
  }
  mkdirSync(join(stage, 'DEBIAN'))
  for (const [flag, script] of [
    ['--after-install', 'postinst'],
    ['--after-remove', 'postrm'],
  ]) {
    copyFileSync(one(flag), join(seen, flag))
    copyFileSync(one(flag), join(stage, 'DEBIAN', script))
    chmodSync(join(stage, 'DEBIAN', script), 0o755)
  }
  const fields = {
    Package: one('--name'),
    Version: one('--version'),
    Architecture: one('--architecture'),
    Maintainer: one('--maintainer'),
    Depends: given.get('-d')?.join(', '),
    Recommends: given.get('--deb-recommends')?.join(', '),
    Priority: one('--deb-priority'),
    Homepage: one('--url'),
    Description: one('--description'),
  }
  const control = Object.entries(fields).flatMap(([name, value]) => (value ? [`${name}: ${value}\n`] : []))
  writeFileSync(join(stage, 'DEBIAN/control'), control.join(''))
  execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', stage, one('--package')], { stdio: 'inherit' })
} finally {
  rmSync(stage, { recursive: true, force: true })
}
