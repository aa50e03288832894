// Runs the tests, after bringing what they need: a build, Chromium and fonts. On Debian as root it installs the latter;
// elsewhere a missing one fails the suite that needs it, with one line that says how to install it.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { requireNode } from './node-version.mjs'

await requireNode()
const root = join(import.meta.dirname, '..')
const apt = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=500']

/** Debian packages and how to see that one is there. */
const needed = [
  { name: 'chromium', isThere: () => existsSync('/usr/lib/chromium/chromium') },
  { name: 'fonts-noto-cjk', isThere: () => existsSync('/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc') },
]

/** @param {string[]} arguments_ */
function aptGet(...arguments_) {
  const options = { stdio: ['ignore', 2, 2], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }
  return spawnSync('apt-get', arguments_, options).status === 0
}

const missing = needed.filter((part) => !part.isThere()).map((part) => part.name)
if (missing.length > 0 && existsSync('/etc/debian_version') && process.getuid?.() === 0) {
  console.error(`Installing ${missing.join(' and ')} for the tests …`)
  if (!aptGet('update', '-q', '-o', 'DPkg::Lock::Timeout=500') || !aptGet('install', '-q', ...apt, ...missing)) {
    console.error(`Could not install ${missing.join(' and ')}; the suites that need them will fail and say so.`)
  }
}

const { ensureBuild } = await import('./ensure-build.mjs')
try {
  await ensureBuild()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}

const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const child = spawn(process.execPath, [vitest, 'run', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.once('exit', (code) => process.exit(code ?? 1))
