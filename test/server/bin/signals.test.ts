import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished, test } from 'vitest'
import { endingSignals } from '../../../server/bin/ending-signals.ts'
import { type Ready, siteWithoutMedia, startHeadless } from '../../support/headless.ts'
import { built } from '../../support/built.ts'

const program = built('server/headless.js')

test('A controller without a terminal, as after nohup, keeps running when a terminal is closed', async () => {
  const controller = await startHeadless({ site: siteWithoutMedia, through: ['nohup'] })
  controller.child.kill('SIGHUP')
  expect((await fetch(`${controller.ready.console}/healthz`)).status).toBe(200)
  expect(await controller.stop()).toBe(0)
  expect(controller.log.join('\n')).not.toContain('SIGHUP')
})

test('A controller in a terminal that is closed shuts down cleanly', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roomdesk-terminal-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const ports = ['media', 'device', 'node', 'console'].map((name) => `--${name}-port=0`).join(' ')
  const line = `${process.execPath} ${program} --data-dir=${folder} ${ports}`
  const terminal = spawn('script', ['-qefc', line, '/dev/null'], { stdio: ['ignore', 'pipe', 'ignore'] })
  onTestFinished(() => void terminal.kill('SIGKILL'))
  const ended = once(terminal, 'exit')
  const lines: string[] = []
  for await (const text of createInterface(terminal.stdout)) {
    lines.push(text)
    if (text.startsWith('ready ')) process.kill((JSON.parse(text.slice(6)) as Ready).pid, 'SIGHUP')
  }
  expect(lines.find((text) => text.includes('"stopping"'))).toContain('SIGHUP')
  expect((await ended)[0]).toBe(0)
})

test('On Windows, Ctrl+Break and closing the window stop a controller, too', () => {
  expect(endingSignals('win32', false)).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'])
  expect(endingSignals('darwin', true)).toEqual(['SIGINT', 'SIGTERM', 'SIGHUP'])
  expect(endingSignals('linux', false)).toEqual(['SIGINT', 'SIGTERM'])
})
