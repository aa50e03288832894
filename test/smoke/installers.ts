import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { hasNoSandbox } from '../../scripts/electron-program.mjs'
import { buildInstaller } from './packed.ts'
import { NotHere, type Report } from './report.ts'
import { RunningApp } from './running-app.ts'

const run = promisify(execFile)

/** Time to make an installer, in milliseconds: electron-builder downloads its tools once. */
const makeMs = 20 * 60_000
const installMs = 5 * 60_000

/** One kind of installer on this system. */
interface Installer {
  name: string
  /** Target as on electron-builder's command line. */
  target: readonly string[]
  /** Name of its file. */
  file: RegExp
  /**
   * Installs or unpacks it into a folder, with the rights of an ordinary user.
   */
  install: Install
  /** The same with the rights of an administrator, as an item of its own. */
  installForAll?: Install
}

/** @returns the executable, and a function that removes it again */
type Install = (file: string, into: string) => Promise<{ executable: string; remove?: () => Promise<unknown> }>

/** Says why no AppImage can start by itself here: its runtime mounts it, and the mount gives Chromium no helper of root. @param root folder of the system's files */
export function appImageObstacle(root: string): string | undefined {
  if (!existsSync(join(root, 'dev/fuse'))) return 'this system has no FUSE, by which an AppImage is mounted'
  return hasNoSandbox(root, join(root, 'none')) ? 'this system gives an AppImage no sandbox' : undefined
}

/** Installs a deb as `apt install` does; removes it afterwards. */
export const installDeb: Install = async (file) => {
  if (existsSync('/opt/Roomdesk')) throw new NotHere('Roomdesk is installed in /opt/Roomdesk: remove it first')
  const asRoot = (...command: string[]): Promise<unknown> => run('sudo', ['-n', ...command])
  await asRoot('apt-get', '--version').catch(() => {
    throw new NotHere('it needs apt, and sudo without a password')
  })
  const remove = (): Promise<unknown> => asRoot('apt-get', 'purge', '--yes', 'roomdesk')
  try {
    await asRoot('apt-get', 'install', '--yes', file)
  } catch (error) {
    await remove().catch(() => undefined)
    throw error
  }
  return { executable: '/usr/bin/roomdesk', remove }
}

/** Starts the deb in a container of a minimal Debian, which has none of the desktop's libraries: apt brings what it asks for. */
async function startInMinimalDebian(file: string): Promise<string> {
  const programs = ['podman', 'docker']
  const started = await Promise.all(
    programs.map((name) =>
      run(name, ['info']).then(
        () => true,
        () => false,
      ),
    ),
  )
  const container = programs.find((_name, index) => started[index])
  if (container === undefined) throw new NotHere('it needs a running podman or docker')
  const inside = [
    'apt-get update -qq',
    'apt-get install -y -qq --no-install-recommends /roomdesk.deb > /dev/null',
    // As a user: the app does not run as root.
    'useradd --create-home operator',
    "su operator -c 'roomdesk --no-sandbox --version'",
  ].join(' && ')
  const mounted = ['--rm', '--volume', `${file}:/roomdesk.deb:ro`, 'debian:stable-slim', 'sh', '-c', inside]
  const { stdout } = await run(container, ['run', ...mounted], { timeout: installMs })
  return `in debian:stable-slim, without a display, it prints ${stdout.trim().split('\n').at(-1)}`
}

const kinds: Readonly<Partial<Record<NodeJS.Platform, readonly Installer[]>>> = {
  linux: [
    {
      name: 'appimage',
      target: ['--linux', 'AppImage'],
      file: /\.AppImage$/,
      // Its own runtime starts it, as for whoever downloads it.
      install: async (file) => {
        const obstacle = appImageObstacle('/')
        if (obstacle !== undefined) throw new NotHere(obstacle)
        await chmod(file, 0o755)
        return { executable: file }
      },
    },
    {
      name: 'deb',
      target: ['--linux', 'deb'],
      file: /\.deb$/,
      install: async (file, into) => {
        await run('dpkg-deb', ['--extract', file, into])
        return { executable: join(into, 'opt/Roomdesk/roomdesk') }
      },
      installForAll: installDeb,
    },
  ],
  win32: [
    {
      name: 'nsis',
      target: ['--win', 'nsis'],
      file: /Setup.*\.exe$/,
      install: async (file, into) => {
        const usual = join(process.env.LOCALAPPDATA ?? homedir(), 'Programs', 'Roomdesk')
        // NSIS has one registry entry per user, so this would replace an installed app.
        if (existsSync(usual)) throw new NotHere(`Roomdesk is installed in ${usual}: remove it first`)
        // NSIS reads everything after /D= literally, to the end of the line.
        await run(file, ['/S', `/D=${into}`], { windowsVerbatimArguments: true })
        const remove = (): Promise<unknown> => run(join(into, 'Uninstall Roomdesk.exe'), ['/S'])
        return { executable: join(into, 'Roomdesk.exe'), remove }
      },
    },
  ],
  darwin: [
    {
      name: 'dmg',
      target: ['--mac', 'dmg'],
      file: /\.dmg$/,
      install: async (file, into) => {
        await run('hdiutil', ['attach', '-nobrowse', '-readonly', '-mountpoint', into, file])
        const remove = (): Promise<unknown> => run('hdiutil', ['detach', '-force', into])
        const bundle = join(into, 'Roomdesk.app')
        await run('codesign', ['--verify', '--deep', '--strict', bundle])
        return { executable: join(bundle, 'Contents/MacOS/Roomdesk'), remove }
      },
    },
  ],
}

/** Makes each installer of this system, unpacks or installs it, and starts the result. */
export async function checkInstallers(report: Report, electronFolder: string, work: string): Promise<void> {
  if (!report.wants('installers')) return
  for (const installer of kinds[process.platform] ?? []) {
    const name = `installers.${installer.name}`
    if (!report.wants(name)) continue
    const file = await report.prepare(`${name}-made`, () => make(installer, electronFolder, work), makeMs)
    if (file === undefined) continue
    await report.check(name, () => tryOut(installer.install, file), installMs)
    const { installForAll } = installer
    if (installForAll !== undefined)
      await report.check(`${name}-installed`, () => tryOut(installForAll, file), installMs)
    if (installer.name === 'deb') await report.check(`${name}-minimal`, () => startInMinimalDebian(file), installMs)
  }
}

const make = ({ name, target, file }: Installer, electronFolder: string, work: string): Promise<string> =>
  buildInstaller([...target, `--${process.arch}`], electronFolder, join(work, name), file)

async function tryOut(install: Install, file: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-smoke-install-'))
  const into = join(folder, 'app')
  await mkdir(into)
  let remove: (() => Promise<unknown>) | undefined
  try {
    const installed = await install(file, into)
    remove = installed.remove
    if (!existsSync(installed.executable)) throw new Error(`it holds no ${installed.executable}`)
    const program = { executable: installed.executable, args: [], isStandIn: false }
    await using app = await RunningApp.start(program, join(folder, 'data'))
    const { version } = await app.call('overview.get')
    return `version ${version} starts from it`
  } finally {
    await remove?.().catch(() => undefined)
    await rm(folder, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined)
  }
}
