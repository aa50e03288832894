import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { commandUsage } from '../../server/bin/commands.ts'
import { usage } from '../../server/bin/launch-options.ts'
import { manualPage, optionsFile, readOptions } from './option.ts'
import { documents, programFiles, unit } from './program-files.ts'
import type { Release } from './release.ts'
import { foldersOf, tarball } from './tar.ts'
import { contentOf, program, sizeOf, textFile, type TreeFile } from './tree.ts'

const name = 'roomdesk-server'
const programFolder = 'usr/lib/roomdesk'
const documentFolder = `usr/share/doc/${name}`
const optionsPath = 'etc/roomdesk/roomdesk.env'
/** Symbols that Node and the native binary need of Debian's libraries; a test compares the list with them. */
const dependencies = 'adduser, libc6 (>= 2.30), libgcc-s1 (>= 3.4), libstdc++6 (>= 7)'

/** Debian's spelling of a version: what comes before a release sorts before it. */
export function debianVersion({ version, revision }: Pick<Release, 'version' | 'revision'>): string {
  return `${version.replaceAll('-', '~')}-${revision}`
}

/** The name of the package's file, as Debian names them. */
export function debianFileName(release: Pick<Release, 'version' | 'revision'>): string {
  return `${name}_${debianVersion(release)}_amd64.deb`
}

/**
 * A binary package of Debian (deb(5)): no tool of Debian's is needed to make it.
 * @throws PartMissingError
 */
export async function debianPackage(release: Release): Promise<Buffer> {
  const { root, time, compression } = release
  const files = [...programFiles(root, programFolder), ...documents(root, documentFolder), ...systemFiles(release)]
  const scripts = ['postinst', 'prerm', 'postrm'].map((script) =>
    textFile(script, readFileSync(join(root, 'packaging/server/debian', script), 'utf8'), program),
  )
  const about = [
    textFile('control', control(release, files)),
    textFile('conffiles', `/${optionsPath}\n`),
    textFile('md5sums', sums(files)),
    ...scripts,
  ]
  const archives = { time, prefix: './' }
  return arArchive(time, [
    { member: 'debian-binary', content: Buffer.from('2.0\n') },
    { member: 'control.tar.gz', content: await tarball(about, { ...archives, compression: 9 }) },
    { member: 'data.tar.gz', content: await tarball(files, { ...archives, compression }) },
  ])
}

/** Files in Debian's places, besides the program. */
function systemFiles(release: Release): TreeFile[] {
  const { root, version, time } = release
  const options = readOptions(usage)
  const own = (file: string): string => fill(readFileSync(join(root, 'packaging/server/debian', file), 'utf8'), release)
  const day = time.toISOString().slice(0, 10)
  const documentation = `man:roomdesk(1) file:///${documentFolder}/operate/install.md`
  return [
    { path: 'usr/bin/roomdesk', target: '../lib/roomdesk/roomdesk' },
    textFile('usr/lib/systemd/system/roomdesk.service', unit(root, `/${programFolder}`, documentation)),
    textFile(optionsPath, optionsFile(options), 0o640),
    textFile(`${documentFolder}/copyright`, own('copyright')),
    textFile(`${documentFolder}/README.Debian`, own('README.Debian')),
    compressed(`${documentFolder}/changelog.Debian.gz`, changelog(release)),
    compressed('usr/share/man/man1/roomdesk.1.gz', manualPage(options, commandUsage, version, day)),
    textFile(`usr/share/lintian/overrides/${name}`, own('lintian-overrides')),
  ]
}

function compressed(path: string, text: string): TreeFile {
  return { path, mode: 0o644, content: gzipSync(text, { level: 9 }) }
}

function fill(text: string, { maintainer, homepage, time }: Release): string {
  const values = { maintainer, homepage, year: String(time.getUTCFullYear()) }
  return Object.entries(values).reduce((filled, [name, value]) => filled.replaceAll(`@${name}@`, value), text)
}

function control(release: Release, files: readonly TreeFile[]): string {
  const fields = {
    Package: name,
    Version: debianVersion(release),
    Architecture: 'amd64',
    Maintainer: release.maintainer,
    'Installed-Size': installedKib(files),
    Depends: dependencies,
    Suggests: 'ffmpeg, janus, postgresql',
    // The desktop app brings the same command.
    Conflicts: 'roomdesk',
    Section: 'net',
    Priority: 'optional',
    Homepage: release.homepage,
    Description: 'media rooms and RTSP devices under one roof (server)',
  }
  const text = [
    'Roomdesk is one box on your own network that runs the media room and',
    'external device REST API: clients authenticate with a key pair and create',
    'rooms, people join them from a browser, RTSP cameras join as users.',
    '.',
    'This is the service, with its console for operators in a browser. It brings',
    'the Node that it runs on.',
  ]
  const lines = Object.entries(fields).map(([field, value]) => `${field}: ${value}`)
  return [...lines, ...text.map((line) => ` ${line}`), ''].join('\n')
}

/** As dpkg-gencontrol counts it: files by whole KiB, everything else one each. */
function installedKib(files: readonly TreeFile[]): number {
  const sizes = files.map((file) => (file.target === undefined ? Math.ceil(sizeOf(file) / 1024) : 1))
  return sizes.reduce((sum, size) => sum + size, 0) + foldersOf(files).length
}

/** Sums by which `dpkg --verify` finds changed files; files of options have a sum in dpkg's own list. */
function sums(files: readonly TreeFile[]): string {
  return files
    .filter(({ path, target }) => target === undefined && path !== optionsPath)
    .map((file) => `${createHash('md5').update(contentOf(file)).digest('hex')}  ${file.path}\n`)
    .sort()
    .join('')
}

function changelog(release: Release): string {
  const [weekday, rest] = [release.time.toUTCString().slice(0, 5), release.time.toUTCString().slice(5, -4)]
  return [
    `${name} (${debianVersion(release)}) stable; urgency=medium`,
    '',
    `  * Roomdesk ${release.version}.`,
    '',
    ` -- ${release.maintainer}  ${weekday}${rest} +0000`,
    '',
  ].join('\n')
}

/** The archive of ar(1), with the short names that deb(5) asks for. */
function arArchive(time: Date, members: readonly { member: string; content: Buffer }[]): Buffer {
  const parts = members.flatMap(({ member, content }) => {
    const seconds = Math.floor(time.getTime() / 1_000)
    const fields = [member.padEnd(16), String(seconds).padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)]
    const head = `${fields.join('')}${String(content.length).padEnd(10)}\`\n`
    // Each member begins at an even place.
    return [Buffer.from(head), content, Buffer.from(content.length % 2 === 1 ? '\n' : '')]
  })
  return Buffer.concat([Buffer.from('!<arch>\n'), ...parts])
}
