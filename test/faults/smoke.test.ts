import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeStandInDistribution } from '../support/stand-in-distribution.ts'

const root = resolve(import.meta.dirname, '../..')
const script = join(root, 'scripts/smoke.mjs')

/** Runs the command; resolves to its exit code, output and report. */
async function smoke(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const file = join(folder, 'report.json')
  const child = spawn(process.execPath, [script, '--report', file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  const report = JSON.parse(await readFile(file, 'utf8')) as {
    on?: string
    items: { name: string; verdict: string; detail: string }[]
  }
  return { code, said, report }
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roomdesk-rehearsal-'))
})
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))

const app = (name: string): string => `app.${name}`

/** The story of a packed app, run with the built one on the stand-in: it tests the command, not Electron. */
test.skipIf(process.platform === 'win32')(
  '`npm start` and the complete story of the packed app run',
  async () => {
    const { code, said, report } = await smoke(['--stand-in'])
    const failed = report.items.filter(({ verdict }) => verdict !== 'PASS')
    expect({ code, failed }, said).toEqual({ code: 0, failed: [] })
    expect(report.on).toBe('stand-in')
    expect(report.items.map(({ name }) => name)).toEqual([
      ...['fetch-broken', 'fetch-refused', 'fetch-interrupted', 'window'].map((name) => `start.${name}`),
      ...['start', 'origin', 'policy', 'no-node', 'visible', 'node-online', 'readiness'].map(app),
      ...['call', 'room-page-http', 'room-page-tls', 'preview', 'preview-h265', 'page-hang'].map(app),
      ...['page-crash', 'node-killed', 'gpu-crash', 'second-instance', 'sigterm', 'data-kept', 'version'].map(app),
      ...['headless', 'stale-lock', 'quit'].map(app),
    ])
  },
  180_000,
)

/** A distribution with a dummy program: it is packed and checked like Electron, and does not start. */
test.runIf(process.platform === 'linux' && process.arch === 'x64')(
  'a packed app is checked, and one that does not start is a failure with the reason',
  async () => {
    const library = join(root, 'node_modules/@electron-internal/extract-zip/index.linux-x64-gnu.node')
    const electron = await makeStandInDistribution(join(folder, 'electron'), await readFile(library))
    const { code, said, report } = await smoke(['--only', 'packed,app'], { ELECTRON_OVERRIDE_DIST_PATH: electron })
    expect(
      report.items.map(({ name, verdict }) => `${verdict} ${name}`),
      said,
    ).toEqual([
      'PASS packed.pack',
      'PASS packed.fuses',
      'SKIP packed.signature',
      'PASS packed.architecture',
      'PASS packed.natives',
      'FAIL app.start',
    ])
    expect(report.items.at(-1)?.detail).toMatch(/^it ended with \S+ before its console was there/m)
    const kept = /are kept in (.*)$/m.exec(said)?.[1]
    expect(existsSync(String(kept))).toBe(true)
    await rm(String(kept), { recursive: true })
    expect(code).toBe(1)
  },
  300_000,
)
