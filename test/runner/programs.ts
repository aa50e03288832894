import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromiumProgram } from '../support/chromium-program.ts'
import type { Sources } from './needs.ts'

/** A program that tests use and the project does not bring along. */
export interface Program {
  name: string
  isPresent: () => boolean
  /** Whether a test file uses it. */
  isUsedBy: (sources: Sources) => boolean
  /** Debian packages. */
  packages: readonly string[]
}

/** Programs that modules of `test/support` start. */
export const programs: readonly Program[] = [
  {
    name: 'Chromium',
    isPresent: () => existsSync(chromiumProgram),
    // The stand-in for Electron shows its windows with it.
    isUsedBy: (sources) => sources.has('test/support/chromium-program.ts') || sources.has('test/e2e/desktop.ts'),
    packages: ['chromium', 'chromium-headless-shell', 'fonts-noto-cjk'],
  },
  {
    name: "GStreamer's RTSP server",
    isPresent: () => runs('/usr/bin/python3', '-c', 'import gi; gi.require_version("GstRtspServer", "1.0")'),
    isUsedBy: (sources) => sources.has('test/support/camera/camera.ts'),
    packages: [
      ...['python3-gi', 'gir1.2-gst-rtsp-server-1.0', 'gir1.2-gst-plugins-base-1.0', 'gstreamer1.0-tools'],
      ...['base', 'good', 'bad', 'ugly'].map((set) => `gstreamer1.0-plugins-${set}`),
      'gstreamer1.0-libav',
    ],
  },
  {
    name: 'Janus',
    isPresent: () => existsSync('/usr/bin/janus'),
    isUsedBy: (sources) => sources.has('test/support/janus/janus-server.ts'),
    packages: ['janus'],
  },
  {
    name: 'PostgreSQL',
    isPresent: () => existsSync('/usr/lib/postgresql') && readdirSync('/usr/lib/postgresql').length > 0,
    isUsedBy: (sources) => sources.has('test/support/postgres/postgres-server.ts'),
    packages: ['postgresql'],
  },
  {
    name: 'PgBouncer',
    isPresent: () => existsSync('/usr/sbin/pgbouncer'),
    isUsedBy: (sources) => sources.has('test/support/postgres/pgbouncer.ts'),
    packages: ['pgbouncer'],
  },
  {
    name: 'ffmpeg',
    isPresent: () => ['ffmpeg', 'ffprobe'].every(isCommand),
    // A file that imports the module itself. Nodes of tests do too, and most of these need no ffmpeg.
    isUsedBy: (sources) =>
      startsOneOf(['ffmpeg', 'ffprobe'])(sources) || [...sources.values()][0]?.includes('/own-ffmpeg.ts') === true,
    packages: ['ffmpeg'],
  },
  ...[
    { name: 'openssl', commands: ['openssl'] },
    { name: 'unzip', commands: ['unzip'] },
    { name: 'curl', commands: ['curl'] },
    { name: 'iptables', commands: ['iptables'] },
    { name: 'iproute2', commands: ['ip'] },
    { name: 'procps', commands: ['ps'] },
    { name: 'dbus-daemon', commands: ['dbus-daemon'] },
  ].map(({ name, commands }) => ({
    name,
    isPresent: () => commands.every(isCommand),
    isUsedBy: startsOneOf(commands),
    packages: [name],
  })),
]

/** Debian packages of `npm run faults` alone. Their tests skip themselves where one is missing. */
const faultPackages = [
  ...['python3-aiortc', 'golang-go', 'golang-github-pion-webrtc.v3-dev'],
  // The languages of docs/integrate/languages.md.
  ...['python3', 'default-jdk-headless', 'php-cli', 'mono-mcs', 'libmono-system-net-http4.0-cil'],
  ...['libmono-system-runtime-serialization4.0-cil', 'libmono-system-xml-linq4.0-cil'],
  // Three machines as in the guide.
  ...['etcd-server', 'etcd-client', 'patroni', 'python3-psycopg2', 'python3-idna', 'haproxy', 'keepalived'],
  // A file system without hard links and modes.
  ...['exfatprogs', 'exfat-fuse'],
  // The installer for Windows.
  'nsis',
]

/** Returns missing programs that some of these test files use, after an attempt to install them. */
export const missingPrograms = (files: readonly Sources[]): Program[] =>
  missingOf(programs.filter(({ isUsedBy }) => files.some(isUsedBy)))

/** Returns those of the programs that are missing, after an attempt to install them on Debian as root. */
export function missingOf(used: readonly Program[]): Program[] {
  if (existsSync('/etc/debian_version') && process.getuid?.() === 0) {
    const more = process.env.ROOMDESK_FAULTS === 'all' ? faultPackages : []
    install(used.flatMap(({ packages }) => packages).concat(more))
  }
  return used.filter(({ isPresent }) => !isPresent())
}

/** Installs those Debian packages that are missing. */
function install(packages: readonly string[]): void {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Abbrev}${Package}\n', ...packages], {
    encoding: 'utf8',
  })
  const installed = new Set(stdout.split('\n').map((line) => /^ii (.*)$/.exec(line)?.[1]))
  const missing = packages.filter((name) => !installed.has(name))
  if (missing.length === 0) return
  console.error(`Installing for the tests: ${missing.join(' ')}`)
  if (!aptGet('update') || !aptGet('install', '-y', '--no-install-recommends', ...missing))
    console.error(`Could not install ${missing.join(' ')}`)
}

function aptGet(...parameters: string[]): boolean {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = ['-q', '-o', 'DPkg::Lock::Timeout=500']
  return spawnSync('apt-get', [...options, ...parameters], { stdio: ['ignore', 2, 2], env }).status === 0
}

function runs(command: string, ...parameters: string[]): boolean {
  return spawnSync(command, parameters, { stdio: 'ignore' }).status === 0
}

/** Folders of commands for root, which Debian leaves out of the PATH of other users. */
const rootFolders = ['/usr/sbin', '/sbin']

function isCommand(name: string): boolean {
  return [...(process.env.PATH ?? '').split(delimiter), ...rootFolders].some((folder) => {
    try {
      accessSync(join(folder, process.platform === 'win32' ? `${name}.exe` : name), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Whether a file starts one of these commands: `run('ffmpeg', …)`, `execFileSync('ffmpeg', …)`. */
function startsOneOf(commands: readonly string[]): (sources: Sources) => boolean {
  const start = new RegExp(`(?:run|spawn|spawnSync|execFileSync|execFile\\)|#inside)\\(\\s*'(?:${commands.join('|')})'`)
  return (sources) => [...sources.values()].some((text) => start.test(text))
}
