// Runs the tests, after bringing what they need: a build, Chromium, fonts, a test camera. On Debian as root it installs the packages;
// elsewhere a missing one fails the suite that needs it, with one line that says how to install it.
// Its last line is `N passed, N failed`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')

/** Debian packages that the tests use. */
const packages = [
  'chromium',
  'chromium-headless-shell',
  'fonts-noto-cjk',
  // The RTSP camera of the tests.
  ...['python3-gi', 'gir1.2-gst-rtsp-server-1.0', 'gir1.2-gst-plugins-base-1.0', 'gstreamer1.0-tools'],
  ...['base', 'good', 'bad', 'ugly'].map((set) => `gstreamer1.0-plugins-${set}`),
  ...['gstreamer1.0-libav', 'ffmpeg'],
  // Media servers beside the embedded node.
  'janus',
  // The database that a site can be in, and a pool before it.
  ...['postgresql', 'pgbouncer'],
  // Machines on a network that is cut.
  ...['iproute2', 'iptables'],
  // Other programs that speak as clients do.
  ...['curl', 'openssl', 'unzip'],
  ...(process.env.ROOMDESK_FAULTS === 'all'
    ? [
        ...['python3-aiortc', 'golang-go', 'golang-github-pion-webrtc.v3-dev'],
        // Three machines as in the guide.
        ...['etcd-server', 'etcd-client', 'patroni', 'python3-psycopg2', 'python3-idna', 'haproxy', 'keepalived'],
        // A file system without hard links and modes.
        ...['exfatprogs', 'exfat-fuse'],
        // The installer for Windows.
        'nsis',
      ]
    : []),
]

/** @returns {string[]} those that are not installed */
function missingPackages() {
  const { stdout } = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Abbrev}${Package}\n', ...packages], {
    encoding: 'utf8',
  })
  const installed = new Set((stdout ?? '').split('\n').map((line) => /^ii (.*)$/.exec(line)?.[1]))
  return packages.filter((name) => !installed.has(name))
}

/** @param {string[]} arguments_ */
function aptGet(...arguments_) {
  const options = { stdio: ['ignore', 2, 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  return spawnSync('apt-get', ['-q', '-o', 'DPkg::Lock::Timeout=500', ...arguments_], options).status === 0
}

/** What the tests need of the system, where this script may bring it. */
function bringPackages() {
  if (!existsSync('/etc/debian_version') || process.getuid?.() !== 0) return
  const missing = missingPackages()
  if (missing.length === 0) return
  console.error(`Installing for the tests: ${missing.join(' ')}`)
  if (!aptGet('update') || !aptGet('install', '-y', '--no-install-recommends', ...missing)) {
    console.error(`Could not install ${missing.join(' ')}; the suites that need them will fail and say so.`)
  }
}

/**
 * What Vitest's JSON report counts. A suite that failed before its tests could run counts as one failure.
 * @param {string} file @param {number} code Vitest's exit code
 */
function count(file, code) {
  let report
  try {
    report = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    report = { numPassedTests: 0, numFailedTests: 0, testResults: [] }
  }
  const withoutTests = report.testResults.filter(
    ({ status, assertionResults }) =>
      status === 'failed' && !assertionResults.some((result) => result.status === 'failed'),
  )
  const failed = report.numFailedTests + withoutTests.length
  return { passed: report.numPassedTests, failed: code === 0 ? failed : Math.max(failed, 1) }
}

const memory = '/dev/shm'
const gibibyte = 2 ** 30

/** Folder for temporary files: in memory where there is plenty, since each site of a test syncs its files again and again. */
function temporaryFolder() {
  if (!existsSync(memory) || /^\S+ \/dev\/shm .*\bnoexec\b/m.test(readFileSync('/proc/mounts', 'utf8'))) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return bavail * bsize > 8 * gibibyte && freemem() > 8 * gibibyte ? memory : tmpdir()
}

bringPackages()
const { ensureBuild } = await import('./ensure-build.mjs')
try {
  await ensureBuild()
} catch (error) {
  console.error(error.message)
  console.log('0 passed, 1 failed')
  process.exit(1)
}

// Whatever a test or a browser leaves in the temporary folder goes with the run.
const temporary = mkdtempSync(join(temporaryFolder(), 'roomdesk-test-'))
const reportFile = join(temporary, 'report.json')
const reporters = ['default', 'json', ...(process.env.CI ? ['github-actions'] : [])]
const vitest = [
  join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  ...reporters.map((name) => `--reporter=${name}`),
  `--outputFile.json=${reportFile}`,
]
const child = spawn(process.execPath, [...vitest, ...process.argv.slice(2)], {
  cwd: root,
  stdio: 'inherit',
  env: { ...process.env, TMPDIR: temporary },
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => {
  const { passed, failed } = count(reportFile, code ?? 1)
  // A browser that is ending may write its last.
  rmSync(temporary, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  console.log(`${passed} passed, ${failed} failed`)
  process.exit(code ?? 1)
})
