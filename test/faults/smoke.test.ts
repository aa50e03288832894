import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const script = resolve(import.meta.dirname, '../../scripts/smoke.mjs')

/** What `npm run smoke` does with a packed app, done with the built one on the stand-in: it proves the command, and nothing of Electron. */
test.skipIf(process.platform === 'win32')(
  'the whole story of the packed app can be told',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roomdesk-rehearsal-'))
    const file = join(folder, 'report.json')
    const child = spawn(process.execPath, [script, '--stand-in', '--report', file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    const report = JSON.parse(await readFile(file, 'utf8')) as {
      on: string
      items: { name: string; verdict: string }[]
    }
    await rm(folder, { recursive: true })
    expect({ code, failed: report.items.filter(({ verdict }) => verdict !== 'PASS') }, said).toEqual({
      code: 0,
      failed: [],
    })
    expect(report.on).toBe('stand-in')
    expect(report.items.map(({ name }) => name)).toEqual([
      ...['start', 'origin', 'policy', 'no-node', 'node-online', 'call', 'room-page-http', 'room-page-tls'].map(app),
      ...['preview', 'page-crash', 'node-killed', 'second-instance', 'sigterm', 'data-kept'].map(app),
    ])
  },
  180_000,
)

const app = (name: string): string => `app.${name}`
